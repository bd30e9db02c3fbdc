import { DemoApi } from './demo-api.ts';
import { seedCatalog } from './seed-catalog.ts';
import { type DemoSigning, seedSigning } from './seed-signing.ts';

export interface Demo {
  org_id: string;
  project_id: string;
  /** The app to try first. */
  app_slug: string;
  /** With what its artifacts are signed. */
  signing: DemoSigning;
}

export interface SeedOptions {
  apiUrl: string;
  dataDir: string;
  tokenOf: (email: string) => Promise<string>;
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

/** Somebody for every role in the demo project, and one who belongs elsewhere. */
const PEOPLE: Person[] = [
  { email: 'owner@example.com', role: 'org_admin', everywhere: true },
  { email: 'owner@example.com', role: 'project_admin' },
  { email: 'developer@example.com', role: 'app_developer' },
  { email: 'operator@example.com', role: 'app_operator' },
  { email: 'viewer@example.com', role: 'viewer' },
];
const OUTSIDERS: Person[] = [{ email: 'outsider@example.com', role: 'org_admin', everywhere: true }];

/** Makes the demo through the public API, like anyone would; what is there already is left alone. */
export async function seedDemo({ apiUrl, dataDir, tokenOf }: SeedOptions): Promise<Demo> {
  const signedIn = new Map<string, DemoApi>();
  const apiOf = async (email: string): Promise<DemoApi> => {
    const api = signedIn.get(email) ?? new DemoApi(apiUrl, await tokenOf(email));
    signedIn.set(email, api);
    return api;
  };
  const api = await apiOf(ADMIN);
  const org = await place(api, '/api/v1/orgs', 'Example', 'example');
  const project = await place(api, `/api/v1/orgs/${org.id}/projects`, 'Example', 'example');
  await invite(api, org, project, PEOPLE, apiOf);
  const outside = await place(api, '/api/v1/orgs', 'Elsewhere', 'elsewhere');
  const elsewhere = await place(api, `/api/v1/orgs/${outside.id}/projects`, 'Elsewhere', 'elsewhere');
  await invite(api, outside, elsewhere, OUTSIDERS, apiOf);
  const app_slug = await seedCatalog({
    projectId: project.id,
    developer: await apiOf('developer@example.com'),
    admin: api,
    owner: await apiOf('owner@example.com'),
  });
  const signing = await seedSigning(api, dataDir);
  return { org_id: org.id, project_id: project.id, app_slug, signing };
}

async function place(api: DemoApi, path: string, name: string, slug: string): Promise<Place> {
  const { items } = await api.send<{ items: Place[] }>('GET', path);
  return items.find((item) => item.slug === slug) ?? api.send<Place>('POST', path, { name, slug });
}

async function invite(
  api: DemoApi,
  org: Place,
  project: Place,
  people: Person[],
  apiOf: (email: string) => Promise<DemoApi>,
): Promise<void> {
  for (const { email, role, everywhere } of people) {
    const invited = await apiOf(email);
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
