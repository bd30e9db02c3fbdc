import { DemoApi } from './demo-api.ts';
import { seedActiveApp } from './seed-active-app.ts';
import { readManifest, seedApp } from './seed-catalog.ts';
import { type DemoSigning, openSigner, seedSigning } from './seed-signing.ts';

export interface Demo {
  org_id: string;
  project_id: string;
  /** The app to try first. */
  app_slug: string;
  app_version: string;
  /** Active, unless something to make it with was missing, or somebody has taken it out of use. */
  app_status: string;
  /** With what its artifacts are signed. */
  signing: DemoSigning;
  /** This machine, if it is a host, and what the project holds of it. */
  node_id?: string;
  sku?: string;
  allocation_id?: string;
}

export interface SeedOptions {
  apiUrl: string;
  dataDir: string;
  tokenOf: (email: string) => Promise<string>;
  /** What the image of the app is made of; without it, or without a registry to push to, the app stays a draft. */
  busybox: string | undefined;
  hasRegistry: boolean;
  say: (part: string, message: string) => void;
  /** Ends it at the next request; the next start takes it up from there. */
  stop?: AbortSignal;
}

interface Place {
  id: string;
  slug: string;
}

interface Person {
  email: string;
  role: string;
  /** In the whole organisation, or in its project. */
  everywhere?: boolean;
}

interface PersonalGrant {
  org?: { id: string };
  project?: { id: string };
}

const ADMIN = 'admin@example.com';

/** Described from the start; whoever has their images publishes them. */
const DRAFTS = ['jupyterlab', 'vllm-openai', 'slurm-reference'];

/** Whoever makes the apps; then somebody for every other role in the demo project, and one who belongs elsewhere. */
const MAKERS: Person[] = [
  { email: 'owner@example.com', role: 'org_admin', everywhere: true },
  { email: 'owner@example.com', role: 'project_admin' },
  { email: 'developer@example.com', role: 'app_developer' },
];
const OTHERS: Person[] = [
  { email: 'operator@example.com', role: 'app_operator' },
  { email: 'viewer@example.com', role: 'viewer' },
];
const OUTSIDERS: Person[] = [{ email: 'outsider@example.com', role: 'org_admin', everywhere: true }];

/** Makes the demo through the public API, like anyone would; what is there already is left alone. */
export async function seedDemo(options: SeedOptions): Promise<Demo> {
  const { apiUrl, tokenOf, stop } = options;
  const signIns = new Map<string, Promise<DemoApi>>();
  const apiOf = (email: string): Promise<DemoApi> => {
    const signIn = signIns.get(email) ?? tokenOf(email).then((token) => new DemoApi(apiUrl, token, stop));
    signIns.set(email, signIn);
    return signIn;
  };
  const admin = await apiOf(ADMIN);
  const [{ org, project }, signing] = await Promise.all([
    seedPlace(admin, 'Example', MAKERS, apiOf),
    seedSigning(admin, options.dataDir),
  ]);
  const people = {
    projectId: project.id,
    admin,
    developer: await apiOf('developer@example.com'),
    owner: await apiOf('owner@example.com'),
  };
  // The rest is made one after the other meanwhile: each function that is asked twice at once has to start twice.
  const seedRest = async (): Promise<void> => {
    await seedPlace(admin, 'Example', OTHERS, apiOf);
    await seedPlace(admin, 'Elsewhere', OUTSIDERS, apiOf);
    for (const slug of DRAFTS) await seedApp(people, readManifest(slug));
  };
  const [app] = await Promise.all([
    seedActiveApp({ ...options, ...people, signer: openSigner(signing) }),
    seedRest(),
  ]);
  return {
    org_id: org.id,
    project_id: project.id,
    app_slug: app.slug,
    app_version: app.version,
    app_status: app.status,
    signing,
  };
}

/** An organisation with its project and the people in it. */
async function seedPlace(
  admin: DemoApi,
  name: string,
  people: Person[],
  apiOf: (email: string) => Promise<DemoApi>,
): Promise<{ org: Place; project: Place }> {
  const org = await place(admin, '/api/v1/orgs', name);
  const project = await place(admin, `/api/v1/orgs/${org.id}/projects`, name);
  const emails = [...new Set(people.map(({ email }) => email))];
  await Promise.all(
    emails.map(async (address) => {
      const roles = people.filter(({ email }) => email === address);
      await invite(admin, org, project, roles, await apiOf(address));
    }),
  );
  return { org, project };
}

async function place(api: DemoApi, path: string, name: string): Promise<Place> {
  const slug = name.toLowerCase();
  const { items } = await api.send<{ items: Place[] }>('GET', path);
  return items.find((item) => item.slug === slug) ?? api.send<Place>('POST', path, { name, slug });
}

async function invite(
  api: DemoApi,
  org: Place,
  project: Place,
  roles: Person[],
  invited: DemoApi,
): Promise<void> {
  for (const { email, role, everywhere } of roles) {
    // Not by address: who signs in on another port than last time is somebody else with the same one.
    const { grants } = await invited.send<{ grants: PersonalGrant[] }>('GET', '/api/v1/me');
    const projectId = everywhere ? undefined : project.id;
    if (grants.some((grant) => grant.org?.id === org.id && grant.project?.id === projectId)) continue;
    const { invitation_token } = await api.send<{ invitation_token: string }>(
      'POST',
      `/api/v1/orgs/${org.id}/invitations`,
      { email, role, ...(projectId !== undefined && { project_id: projectId }) },
    );
    await invited.send('POST', '/api/v1/invitations/accept', { invitation_token });
  }
}
