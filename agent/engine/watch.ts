import type { Engine } from './engine.ts';
import { pause } from './deadline.ts';
import { labelled, COMPONENT, NODE, WORKLOAD } from './labels.ts';
import type { Supervisor } from './supervisor.ts';

const RETRY_MS = 100;
const RETRY_MS_MAX = 5_000;
const LINE_BYTES_MAX = 1024 * 1024;

interface EngineEvent {
  Action?: string;
  Actor?: { Attributes?: Record<string, string> };
}

/**
 * Listens to the engine until it is aborted. Whenever the connection is there again, everything is compared: events were
 * missed, and an engine that was restarted has ended all containers.
 */
export async function watchEngine(
  engine: Engine,
  supervisor: Supervisor,
  converge: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  supervisor.begin(signal);
  let retryMs = RETRY_MS;
  while (!signal.aborted) {
    try {
      const filters = { type: ['container' as const], event: ['die'], ...labelled([NODE, engine.nodeId]) };
      const stream = await engine.docker.getEvents({ filters, abortSignal: signal });
      await converge();
      retryMs = RETRY_MS;
      for await (const event of eventsOf(stream)) {
        const { [WORKLOAD]: workloadId, [COMPONENT]: component } = event.Actor?.Attributes ?? {};
        if (workloadId !== undefined && component !== undefined)
          void supervisor.recover(workloadId, component, 'exited');
      }
    } catch (error) {
      if (!signal.aborted) engine.log('warn', 'The container engine is away.', { error: String(error) });
    }
    engine.forgetFacts();
    await pause(retryMs, signal);
    retryMs = Math.min(retryMs * 2, RETRY_MS_MAX);
  }
}

/** One line of JSON each. */
async function* eventsOf(stream: NodeJS.ReadableStream): AsyncGenerator<EngineEvent> {
  let rest = '';
  for await (const chunk of stream) {
    const lines = (rest + String(chunk)).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > LINE_BYTES_MAX) throw new Error('The engine sent an event that is too long.');
    for (const line of lines) if (line.trim() !== '') yield JSON.parse(line) as EngineEvent;
  }
}
