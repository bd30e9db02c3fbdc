import * as v from 'valibot';
import type { NamedArtifact } from './registration.ts';
import { App } from '../catalog/app.ts';
import { appKey } from '../catalog/keys.ts';
import { artifactKey } from '../catalog/readiness.ts';
import { readItems } from '../platform/data/rows.ts';

/** Whose the app is, and whether the artifact is registered, by one request. */
export async function findPublication({
  id,
  app_slug,
}: NamedArtifact): Promise<{ app?: App; isRegistered: boolean }> {
  const [app, artifact] = await readItems([appKey(app_slug), artifactKey(id)]);
  return { app: v.parse(v.optional(App), app), isRegistered: artifact !== undefined };
}
