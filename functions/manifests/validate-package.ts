import { withoutRepeats } from './manifest-package.ts';
import { obstaclesOfEach, requireOwner } from './registration.ts';
import { findOwnerSlug, findRegistered, type OwningProject } from './registration-store.ts';
import { placeVersions, readSent } from './sent-manifest.ts';
import type { ProjectId } from '../platform/ids.ts';

/** A dry run, for the project that would own a new app: known already, to be found by its id, or none. */
export async function validatePackage(sent: unknown, owner: OwningProject | ProjectId | undefined) {
  const read = readSent(sent);
  if ('problems' in read) return { valid: false, problems: read.problems };
  const { versions, isList } = read;
  const drafts = versions.map(({ manifest }) => manifest);
  const known = typeof owner === 'object' ? owner : undefined;
  const projectId = typeof owner === 'object' ? undefined : owner;
  const { registered, project = known } = await findRegistered(drafts, projectId);
  if (!known) requireOwner(projectId, project);
  // A project is told its own repository, also where the app is another's.
  const slug = known ? known.slug : await findOwnerSlug(drafts, registered[0]?.app, project);
  const placed = placeVersions(versions, slug);
  const place = project && { org_id: project.org_id, project_id: project.id };
  const obstacles = obstaclesOfEach(drafts, registered, place).flatMap((each, index) =>
    each.map(({ code: _code, ...obstacle }) => ({
      ...obstacle,
      pointer: versions[index]?.pointerOf(obstacle.pointer) ?? obstacle.pointer,
    })),
  );
  const problems = withoutRepeats([...('problems' in placed ? placed.problems : []), ...obstacles]);
  if ('problems' in placed) return { valid: false, problems };
  const { manifests } = placed;
  return {
    valid: problems.length === 0,
    problems,
    ...(isList ? { manifests } : { manifest: manifests[0] }),
  };
}
