import { spawn } from 'node:child_process';

type Environment = Record<string, string | undefined>;

/** What opens an address for the person who sits here; nothing where nobody does. */
export function browserCommand(
  { BROWSER, SSH_CONNECTION, DISPLAY, WAYLAND_DISPLAY }: Environment,
  platform: string,
): [string, ...string[]] | undefined {
  if (BROWSER) return [BROWSER];
  if (SSH_CONNECTION) return undefined;
  if (platform === 'darwin') return ['open'];
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler'];
  return DISPLAY || WAYLAND_DISPLAY ? ['xdg-open'] : undefined;
}

/** Whether it opened shows soon enough: people have the address too. */
export function openBrowser([command, ...args]: [string, ...string[]], address: string): void {
  spawn(command, [...args, address], { detached: true, stdio: 'ignore' })
    .on('error', () => undefined)
    .unref();
}
