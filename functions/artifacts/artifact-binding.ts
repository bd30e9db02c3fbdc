// The version an artifact was registered for: what that asks of the artifact, and what the artifact means for it.

import type { App, VersionEntry } from '../catalog/app.ts';
import type { Status } from '../promotion/status.ts';
import { boundIdOf, type Rank, SUFFICIENT } from '../catalog/readiness.ts';
import type { Version } from '../catalog/version.ts';
import type { Artifact, LifecycleState } from './artifact.ts';
import { refuse } from './problems.ts';

/** The version and its app, as they were read. Both may be missing: an artifact may come before its version. */
export interface Bound {
  app?: App;
  version?: Version;
}

/** Whether the version names this artifact, and not another build of it. */
export function isBound({ version }: Bound, { id }: Pick<Artifact, 'id'>): boolean {
  return version?.artifacts.some((expected) => boundIdOf(version, expected) === id) ?? false;
}

/** Refuses a move that takes away an artifact its version still needs. */
export function requireSpared(bound: Bound, artifact: Artifact, to: LifecycleState): void {
  const { version } = bound;
  if (!version || !isBound(bound, artifact) || suffices(version.status, to)) return;
  throw refuse('artifact.in_use', {
    detail: `Version ${version.version} of ${version.app_slug} is ${version.status} and uses the artifact.`,
  });
}

function suffices(status: Status, to: LifecycleState): boolean {
  // Instances of a deprecated version keep running, and may be restarted.
  if (status === 'deprecated') return to !== 'retired';
  const sufficient: readonly LifecycleState[] = isRank(status) ? SUFFICIENT[status] : [to];
  return sufficient.includes(to);
}

const isRank = (status: Status): status is Rank => status in SUFFICIENT;

/** The app with the artifact's trust noted in its row; undefined if the row is up to date, or needs no note. */
export function markTrust(bound: Bound, artifact: Artifact, now: Date): App | undefined {
  const { app, version } = bound;
  const entry = version && app?.versions[version.version];
  if (!app || !entry || !isRank(entry.status) || !isBound(bound, artifact)) return undefined;
  const marked = markEntry(entry, artifact);
  if (marked.untrusted?.[labelOf(artifact)] === entry.untrusted?.[labelOf(artifact)]) return undefined;
  return {
    ...app,
    versions: { ...app.versions, [version.version]: marked },
    revision: app.revision + 1,
    updated_at: now.toISOString(),
  };
}

function markEntry({ untrusted, ...entry }: VersionEntry, artifact: Artifact): VersionEntry {
  const label = labelOf(artifact);
  const others = Object.entries(untrusted ?? {}).filter(([each]) => each !== label);
  const marks =
    artifact.trust_state === 'verified' ? others : [...others, [label, artifact.trust_state] as const];
  return marks.length === 0 ? entry : { ...entry, untrusted: Object.fromEntries(marks) };
}

/** As people know it: by the name the manifest gives it. */
const labelOf = ({ artifact_name, variant }: Artifact): string =>
  variant === undefined ? artifact_name : `${artifact_name} (${variant})`;
