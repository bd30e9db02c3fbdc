import { markup, NOTHING } from './markup.ts';
import { page } from './page.ts';
import type { Person } from './people.ts';

export interface Login {
  /** Who asks. */
  clientName: string;
  people: readonly Person[];
  /** Who is signed in in this browser already. */
  current: Person | undefined;
  /** Why the last choice was not taken. */
  problem?: string;
}

export function loginPage({ clientName, people, current, problem }: Login): string {
  const choices = people.map(({ email, name }) => {
    const note = email === current?.email ? markup`<small>signed in now</small>` : NOTHING;
    return markup`<li><button name="email" value="${email}">${name}<small>${email}</small>${note}</button></li>\n`;
  });
  return page(
    `Sign in to ${clientName}`,
    markup`${problem === undefined ? NOTHING : markup`<p role="alert">${problem}</p>`}
<p>This is the development provider of a platform that runs on this machine. It asks for no password: choose who you want to be.</p>
<form method="post">
<ul>
${choices}</ul>
<p><button name="cancel" value="yes">Cancel</button></p>
</form>`,
  );
}
