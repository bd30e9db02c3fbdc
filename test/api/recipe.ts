// How a route is made to succeed: what a call needs to be there, the call itself, and what is known of it beforehand.

import type { ProblemCode } from '../../functions/problems.ts';
import type { RouteKey } from '../../functions/routes.ts';
import type { Scene } from './scene.ts';
import type { Call } from './world.ts';

/** A POST that only tells what would happen is a read. */
export type ReadRoute = Extract<RouteKey, `GET ${string}` | `POST ${string}/${'validate' | 'dry-run'}`>;
/** What a host observes, over and over. */
export type ReportRoute = Extract<RouteKey, `POST ${string}/${'heartbeat' | 'progress'}`>;
type CommandRoute = Exclude<RouteKey, ReadRoute | ReportRoute>;

// oxlint-disable-next-line typescript/no-explicit-any
export type Body = Record<string, any>;

interface About {
  subject: string;
  /** What changes along with it and has audit rows of its own. */
  also?: string[];
  org_id?: string;
  project_id?: string;
}

export interface Prepared {
  call: Call;
  /** As the audit and the events are to name them. */
  actor: string;
  /** What the audit is to tell of it, from the answer where only that knows. */
  about: (reply: Body) => About;

  /** A call that one of the route's own rules refuses, once the other has been made. */
  refused?: { call: Call; code: ProblemCode };
}

export interface Command {
  route: CommandRoute;
  /** Which way, where a route can be taken in several. */
  how?: string;
  prepare: (scene: Scene) => Promise<Prepared>;
}

/** What was changed since is at a later one. */
export const FIRST_VERSION = { 'if-match': '"1"' };

type Place = Awaited<ReturnType<Scene['place']>>;
type Told = Pick<Prepared, 'call' | 'refused'> & {
  subject: string | ((reply: Body) => string);
  also?: string[];
};

export const ORG = '/api/v1/orgs/{org_id}';
export const PROJECT = '/api/v1/projects/{project_id}';

/** By a platform admin, about nothing that is in a place. */
export const onPlatform =
  (make: (scene: Scene, token: string) => Promise<Told>) =>
  async (scene: Scene): Promise<Prepared> => {
    const { id, token } = await scene.platformAdmin();
    return tell(await make(scene, token), `user:${id}`, {});
  };

/** By the admin of a new organisation, about that. */
export const inOrg =
  (make: (scene: Scene, place: Place) => Promise<Told>) =>
  async (scene: Scene): Promise<Prepared> => {
    const place = await scene.place();
    return tell(await make(scene, place), `user:${place.admin.id}`, { org_id: place.org.id });
  };

/** By the same, about a project of the organisation. */
export const inProject =
  (make: (scene: Scene, place: Place) => Promise<Told>) =>
  async (scene: Scene): Promise<Prepared> => {
    const place = await scene.place();
    const { id, org_id } = place.project;
    return tell(await make(scene, place), `user:${place.admin.id}`, { org_id, project_id: id });
  };

export function tell(
  { call, refused, subject, also }: Told,
  actor: string,
  place: { org_id?: string; project_id?: string },
): Prepared {
  const about: Prepared['about'] = (reply) => ({
    subject: typeof subject === 'string' ? subject : subject(reply),
    ...(also && { also }),
    ...place,
  });
  return { call, actor, about, ...(refused && { refused }) };
}

export async function readOrg(scene: Scene): Promise<Call> {
  const { org, admin } = await scene.place();
  return { params: { org_id: org.id }, token: admin.token };
}

export async function readProject(scene: Scene): Promise<Call> {
  const { project, admin } = await scene.place();
  return { params: { project_id: project.id }, token: admin.token };
}
