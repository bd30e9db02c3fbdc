import type { IncomingMessage, ServerResponse } from 'node:http';
import { errors, type InteractionResults, type Provider } from 'oidc-provider';
import { AwsError } from '../wire/aws.ts';
import { readBody } from '../wire/wire.ts';
import { API_AUDIENCE, API_SCOPE } from './clients.ts';
import { loginPage } from './login-page.ts';
import { markup } from './markup.ts';
import { page } from './page.ts';
import { subjectOf, type Person } from './people.ts';

type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>;

const FORM_BYTES_MAX = 4096;

/** Where the provider sends a browser when it must know who sits there. */
export class Interactions {
  #provider: Provider;
  #people: readonly Person[];

  constructor(provider: Provider, people: readonly Person[]) {
    this.#provider = provider;
    this.#people = people;
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      // The provider's cookie names the interaction; the path only gives the cookie its place.
      const interaction = await this.#provider.interactionDetails(request, response);
      if (request.method === 'GET') show(response, 200, await this.#loginPage(interaction));
      else if (request.method === 'POST') await this.#answer(interaction, request, response);
      else response.writeHead(405, { allow: 'GET, POST' }).end();
    } catch (error) {
      if (error instanceof AwsError)
        show(response, error.status, page('The sign-in failed', markup`<p>${error.message}</p>`));
      else if (error instanceof errors.SessionNotFound) show(response, 400, EXPIRED);
      else throw error;
    }
  }

  async #answer(interaction: Interaction, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const form = new URLSearchParams((await readBody(request, FORM_BYTES_MAX)).toString());
    const finish = (result: InteractionResults): Promise<void> =>
      this.#provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
    if (form.has('cancel'))
      return finish({ error: 'access_denied', error_description: 'The sign-in was cancelled.' });
    const email = form.get('email') ?? '';
    const person = this.#people.find((each) => each.email === email);
    if (person === undefined)
      return show(
        response,
        422,
        await this.#loginPage(interaction, `There is no person with the e-mail address “${email}”.`),
      );
    const accountId = subjectOf(person.email);
    const grantId = await this.#grant(interaction, accountId);
    return finish({ login: { accountId }, consent: { grantId } });
  }

  /** Our own clients get what they ask for; being asked who you are is the consent. */
  async #grant({ grantId, params }: Interaction, accountId: string): Promise<string> {
    const known = grantId === undefined ? undefined : await this.#provider.Grant.find(grantId);
    const grant =
      known?.accountId === accountId
        ? known
        : new this.#provider.Grant({ accountId, clientId: String(params['client_id']) });
    grant.addOIDCScope('openid email profile offline_access');
    grant.addResourceScope(API_AUDIENCE, API_SCOPE);
    return grant.save();
  }

  async #loginPage({ params, session }: Interaction, problem?: string): Promise<string> {
    const client = await this.#provider.Client.find(String(params['client_id']));
    const current = this.#people.find(({ email }) => subjectOf(email) === session?.accountId);
    return loginPage({
      clientName: client?.clientName ?? String(params['client_id']),
      people: this.#people,
      current,
      ...(problem !== undefined && { problem }),
    });
  }
}

const EXPIRED = page(
  'This sign-in has expired',
  markup`<p>It took too long, or was completed in another window. Go back to the application and sign in again.</p>`,
);

function show(response: ServerResponse, status: number, body: string): void {
  response
    .writeHead(status, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' })
    .end(body);
}
