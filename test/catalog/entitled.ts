import type { App } from '../../functions/catalog/app.ts';
import { saveEntitlement } from '../../functions/catalog/entitlement-store.ts';
import { planEntitlement, type PutEntitlement } from '../../functions/catalog/entitlement.ts';
import { saveApp } from '../../functions/catalog/keep-release.ts';
import { newId } from '../../functions/platform/ids.ts';
import { commitAgain } from '../commit-again.ts';

/** What a place says of an app, made with the domain's own rules and writes but not by a call. */
export async function entitle(
  place: { org_id: string; project_id?: string },
  slug: string,
  says: PutEntitlement = { enabled: true },
): Promise<void> {
  const entry = planEntitlement(undefined, says, 'user:somebody', new Date());
  await commitAgain([saveEntitlement(place, slug, undefined, entry, undefined)]);
}

/** An app of the platform with one active version, or whatever is said instead. */
export function planApp(change: Partial<App> = {}): App {
  const at = '2026-01-01T00:00:00.000Z';
  return {
    slug: `a-${newId()}`.slice(0, 40),
    display_name: 'An app',
    description: 'What it does.',
    category: 'tools',
    publisher: 'Somebody',
    support_level: 'community',
    runtime_backend: 'launchable_oci',
    operating_modes: ['tenant_dedicated', 'platform_managed'],
    control_plane_scopes: ['project', 'tenant'],
    ui_kind: 'none',
    versions: { '1.0.0': { status: 'active', internal: false } },
    revision: 1,
    created_at: at,
    updated_at: at,
    ...change,
  };
}

export async function putApp(change: Partial<App> = {}): Promise<App> {
  const app = planApp(change);
  await commitAgain(saveApp(undefined, app));
  return app;
}

/** The app as it is from now on. */
export async function changeApp(before: App, change: Partial<App>): Promise<App> {
  const after = { ...before, ...change, revision: before.revision + 1 };
  await commitAgain(saveApp(before, after));
  return after;
}
