import type { Configuration, errors, KoaContextWithOIDC } from 'oidc-provider';
import { markup, NOTHING, type Markup } from './markup.ts';
import { page } from './page.ts';

type DeviceFlow = NonNullable<NonNullable<Configuration['features']>['deviceFlow']>;
type Answer = Pick<KoaContextWithOIDC, 'type' | 'set' | 'body'>;
type Logout = NonNullable<NonNullable<Configuration['features']>['rpInitiatedLogout']>;

/** `/device`: type the code, see that it is the one on the device, be told that it worked. */
export const devicePages: Pick<
  DeviceFlow,
  'userCodeInputSource' | 'userCodeConfirmSource' | 'successSource'
> = {
  userCodeInputSource(ctx, _form, _out, error) {
    show(
      ctx,
      'Connect a device',
      markup`${error === undefined ? NOTHING : markup`<p role="alert">${deviceProblem(error)}</p>`}
<form method="post" action="${ctx.oidc.urlFor('code_verification')}">
${xsrf(ctx)}
<p><label for="user_code">The code your device shows</label>
<input type="text" id="user_code" name="user_code" required autofocus autocomplete="off" autocapitalize="characters" spellcheck="false" maxlength="32"></p>
<p><button>Continue</button></p>
</form>`,
    );
  },
  userCodeConfirmSource(ctx, _form, client, _deviceInfo, userCode) {
    show(
      ctx,
      'Is this your device?',
      markup`<p>${client.clientName ?? client.clientId} shows this code:</p>
<p><code>${userCode}</code></p>
<p>If you did not start this, or the code is different, cancel.</p>
<form method="post" action="${ctx.oidc.urlFor('code_verification')}">
${xsrf(ctx)}
<input type="hidden" name="user_code" value="${userCode}">
<input type="hidden" name="confirm" value="yes">
<p><button>Continue</button></p>
<p><button name="abort" value="yes">Cancel</button></p>
</form>`,
    );
  },
  successSource(ctx) {
    show(ctx, 'Signed in', markup`<p>Your device is connected. You can close this page.</p>`);
  },
};

export const logoutPages: Pick<Logout, 'logoutSource' | 'postLogoutSuccessSource'> = {
  logoutSource(ctx) {
    show(
      ctx,
      'Sign out?',
      markup`<form method="post" action="${ctx.oidc.urlFor('end_session_confirm')}">
${xsrf(ctx)}
<p><button name="logout" value="yes">Sign out</button></p>
<p><button>Stay signed in</button></p>
</form>`,
    );
  },
  postLogoutSuccessSource(ctx) {
    show(ctx, 'Signed out', markup`<p>You can close this page.</p>`);
  },
};

export const renderError: NonNullable<Configuration['renderError']> = (ctx, out) => {
  show(
    ctx,
    'The sign-in failed',
    markup`<p role="alert">${out.error_description ?? out.error}</p>
<p>Go back to the application and sign in again. (${out.error})</p>`,
  );
};

export function showFailure(ctx: Answer): void {
  show(
    ctx,
    'The sign-in failed',
    markup`<p role="alert">Something went wrong on our side. Go back to the application and sign in again.</p>`,
  );
}

function show(ctx: Answer, title: string, content: Markup): void {
  ctx.type = 'html';
  ctx.set('cache-control', 'no-store');
  ctx.body = page(title, content);
}

/** The provider takes a form only with the secret of the session it was shown in. */
function xsrf(ctx: KoaContextWithOIDC): Markup {
  const secret: unknown = ctx.oidc.session?.state?.['secret'];
  return markup`<input type="hidden" name="xsrf" value="${typeof secret === 'string' ? secret : ''}">`;
}

function deviceProblem(error: Error | errors.OIDCProviderError): string {
  switch (error.name) {
    case 'NoCodeError':
      return 'Type the code your device shows.';
    case 'NotFoundError':
      return 'This code is not valid. Check it and try again.';
    case 'ExpiredError':
      return 'This code has expired. Start again on your device.';
    case 'AlreadyUsedError':
      return 'This code has been used. Start again on your device.';
    case 'AbortedError':
      return 'The sign-in was cancelled.';
    default:
      return 'Something went wrong. Start again on your device.';
  }
}
