// Where the artifacts of a manifest lie. Whoever writes one may name the platform's registry and leave out the project;
// what is stored names the repository as publish intents hand it out, so that it binds what was pushed there.

import type { InputFault } from '../platform/errors.ts';
import type { ProjectSlug } from '../platform/name.ts';
import { NAMESPACE, repositoryOf } from '../storage/repository.ts';
import type { Manifest } from './manifest-canonical.ts';
import { ARTIFACTS, type Check, faultIf } from './manifest-faults.ts';

/** Begins a repository without its project: `apps/<slug>`, or `apps/<slug>/<artifact>`. */
const SHORT = 'apps/';

/** A registry's host, as clients tell it from the first part of a name. */
const HOST = /^(?:localhost|[^/]*[.:][^/]*)\//;

/** The names of the platform's own registry are left out; nothing else is changed. */
export function withoutHosts(manifest: Manifest, hosts: readonly string[]): Manifest {
  return withRepositories(manifest, (repository) => {
    const host = hosts.find((each) => repository.startsWith(`${each}/`));
    return host === undefined ? repository : repository.slice(host.length + 1);
  });
}

/** For manifests that are sent; one that is stored is judged when it is promoted. */
export const REPOSITORY_CHECKS: Check[] = [
  {
    reads: ['/app/slug', ...ARTIFACTS],
    find: (manifest) => artifactPlaces(manifest).flatMap((place) => faultsOf(place, manifest)),
  },
  {
    reads: ['/app/slug', ...ARTIFACTS, '/version/runtime_profile'],
    find: (manifest) => imagePlaces(manifest).flatMap((place) => faultsOf(place, manifest)),
  },
];

/** A repository and where it stands, with the artifacts that may lie there. */
interface Place {
  repository: string;
  pointer: string;
  names: string[];
}

function artifactPlaces({ version: { artifacts } }: Manifest): Place[] {
  return artifacts.flatMap(({ name, repository }, index) =>
    repository === undefined
      ? []
      : [{ repository, pointer: `/version/artifacts/${index}/repository`, names: [name] }],
  );
}

function imagePlaces({ version: { artifacts, runtime_profile } }: Manifest): Place[] {
  const names = artifacts.map(({ name }) => name);
  return (runtime_profile?.components ?? []).flatMap(({ image_ref }, index) =>
    image_ref === undefined
      ? []
      : [
          {
            repository: splitImage(image_ref).repository,
            pointer: `/version/runtime_profile/components/${index}/image_ref`,
            names,
          },
        ],
  );
}

const PUBLISH = 'Create a publish intent, push there, and write the repository it names.';

function faultsOf({ repository, pointer, names }: Place, { app }: Manifest): InputFault[] {
  if (HOST.test(repository)) {
    const detail = 'Expected a repository of the platform’s registry; this one is in another registry.';
    return [{ pointer, detail, hint: PUBLISH }];
  }
  if (repository.startsWith(`${NAMESPACE}/`)) {
    const [slug, ...deeper] = repository
      .slice(NAMESPACE.length + 1)
      .split('/')
      .slice(1);
    const detail = `Expected ${NAMESPACE}/, the slug of a project, and the slug of this app.`;
    return faultIf(slug !== app.slug || deeper.length > 0, pointer, detail, PUBLISH);
  }
  if (!repository.startsWith(SHORT)) {
    const detail = `Expected a repository below ${NAMESPACE}/, or apps/ and the slug of the app.`;
    return [{ pointer, detail, hint: PUBLISH }];
  }
  const [slug, artifact, ...deeper] = repository.slice(SHORT.length).split('/');
  if (slug !== app.slug)
    return [{ pointer, detail: 'Expected the slug of this app after apps/; this one is of another app.' }];
  const isOther = deeper.length > 0 || (artifact !== undefined && !names.includes(artifact));
  return faultIf(isOther, pointer, 'Expected nothing after the slug, or the name of the artifact.');
}

/** With the owner's project in every repository that left it out; without an owner, these are at fault. */
export function placeRepositories(
  manifest: Manifest,
  project: ProjectSlug | undefined,
): { manifest: Manifest } | { problems: InputFault[] } {
  if (project !== undefined)
    return {
      manifest: withRepositories(manifest, (repository) =>
        repository.startsWith(SHORT) ? repositoryOf(project, manifest.app.slug) : repository,
      ),
    };
  const problems = [...artifactPlaces(manifest), ...imagePlaces(manifest)].flatMap(
    ({ repository, pointer }) =>
      faultIf(
        repository.startsWith(SHORT),
        pointer,
        'Expected a repository with its project, because the app belongs to none.',
        `Name the project with project_id, or write ${NAMESPACE}/, the slug of a project, and the slug of the app.`,
      ),
  );
  return problems.length > 0 ? { problems } : { manifest };
}

/** Whether the owner's project must be known to place the artifacts. */
export const leavesOutProject = (manifest: Manifest): boolean =>
  [...artifactPlaces(manifest), ...imagePlaces(manifest)].some(({ repository }) =>
    repository.startsWith(SHORT),
  );

function withRepositories({ version, ...rest }: Manifest, change: (repository: string) => string): Manifest {
  const { artifacts, runtime_profile: profile } = version;
  const changed = (image: string): string => {
    const { repository, digest } = splitImage(image);
    return `${change(repository)}@${digest}`;
  };
  return {
    ...rest,
    version: {
      ...version,
      artifacts: artifacts.map((artifact) => ({
        ...artifact,
        ...(artifact.repository !== undefined && { repository: change(artifact.repository) }),
      })),
      ...(profile && {
        runtime_profile: {
          ...profile,
          components: profile.components.map((component) => ({
            ...component,
            ...(component.image_ref !== undefined && { image_ref: changed(component.image_ref) }),
          })),
        },
      }),
    },
  };
}

function splitImage(image: string): { repository: string; digest: string } {
  const [repository = '', digest = ''] = image.split('@');
  return { repository, digest };
}
