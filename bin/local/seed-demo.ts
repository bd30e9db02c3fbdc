import { randomUUID } from 'node:crypto';

export interface Demo {
  org_id: string;
  project_id: string;
}

export interface SeedOptions {
  apiUrl: string;
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

/** Makes the demo organisations through the public API, like anyone would; what is there already is left alone. */
export async function seedDemo({ apiUrl, tokenOf }: SeedOptions): Promise<Demo> {
  const api = new Api(apiUrl, await tokenOf(ADMIN));
  const org = await place(api, '/api/v1/orgs', 'Example', 'example');
  const project = await place(api, `/api/v1/orgs/${org.id}/projects`, 'Example', 'example');
  await invite(api, org, project, PEOPLE, tokenOf);
  const outside = await place(api, '/api/v1/orgs', 'Elsewhere', 'elsewhere');
  const elsewhere = await place(api, `/api/v1/orgs/${outside.id}/projects`, 'Elsewhere', 'elsewhere');
  await invite(api, outside, elsewhere, OUTSIDERS, tokenOf);
  return { org_id: org.id, project_id: project.id };
}

async function place(api: Api, path: string, name: string, slug: string): Promise<Place> {
  const { items } = await api.send<{ items: Place[] }>('GET', path);
  return items.find((item) => item.slug === slug) ?? api.send<Place>('POST', path, { name, slug });
}

async function invite(
  api: Api,
  org: Place,
  project: Place,
  people: Person[],
  tokenOf: SeedOptions['tokenOf'],
): Promise<void> {
  for (const { email, role, everywhere } of people) {
    const where = everywhere ? `/api/v1/orgs/${org.id}` : `/api/v1/projects/${project.id}`;
    const { items } = await api.send<{ items: { email?: string }[] }>('GET', `${where}/members`);
    if (items.some((member) => member.email === email)) continue;
    const { invitation_token } = await api.send<{ invitation_token: string }>(
      'POST',
      `/api/v1/orgs/${org.id}/invitations`,
      {
        email,
        role,
        ...(everywhere ? {} : { project_id: project.id }),
      },
    );
    await new Api(api.url, await tokenOf(email)).send('POST', '/api/v1/invitations/accept', {
      invitation_token,
    });
  }
}

class Api {
  readonly url: string;
  #token: string;

  constructor(url: string, token: string) {
    this.url = url;
    this.#token = token;
  }

  async send<T>(method: string, path: string, body?: object): Promise<T> {
    const response = await fetch(this.url + path, {
      method,
      headers: {
        authorization: `Bearer ${this.#token}`,
        ...(body && { 'content-type': 'application/json', 'x-idempotency-key': randomUUID() }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok)
      throw new Error(`The demo could not be made: ${method} ${path} answered ${response.status}. ${text}`);
    return JSON.parse(text) as T;
  }
}
