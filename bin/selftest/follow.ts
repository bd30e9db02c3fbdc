import * as v from 'valibot';
import { type Requested, SocketMessage } from './selftest-api.ts';

/** An open line to the run; `closed` stays true once it broke, since a ticket is good for one connection. */
export interface Line {
  closed: boolean;
  /** True as soon as a message comes or the line breaks, false after so long a silence. */
  activity(silenceMs: number): Promise<boolean>;
  close(): void;
}

export function follow({ socket_url, ticket }: Requested, onMessage: (message: SocketMessage) => void): Line {
  const socket = new WebSocket(`${socket_url}?ticket=${ticket}`);
  let wake = () => {};
  const line: Line = {
    closed: false,
    activity: (silenceMs) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, silenceMs, false);
        wake = () => {
          clearTimeout(timer);
          resolve(true);
        };
      }),
    close: () => socket.close(),
  };
  socket.addEventListener('open', () => socket.send(JSON.stringify({ action: 'subscribe' })));
  socket.addEventListener('message', ({ data }) => {
    const message = v.safeParse(v.pipe(v.string(), v.parseJson(), SocketMessage), data);
    if (message.success) onMessage(message.output);
    wake();
  });
  const broken = () => {
    line.closed = true;
    wake();
  };
  socket.addEventListener('close', broken);
  socket.addEventListener('error', broken);
  return line;
}
