import * as v from 'valibot';
import { command } from '../platform/http/endpoint.ts';
import { lowerCased, NodeId } from '../platform/ids.ts';
import { parse } from '../platform/parse.ts';
import { findImages } from './find-images.ts';
import { planTask } from './plan-task.ts';
import { refuse } from './problems.ts';
import { DeadlineSeconds, pathOfTask, subjectOfKept, TaskView, viewTask } from './task-row.ts';
import { type Payload, payloadSchema, TASK_KINDS, type TaskKind } from './task.ts';

export const createTask = command(
  {
    summary: 'Ask a host to do something; platform operators use it to look into a host',
    action: 'nodes.task.create',
    params: v.object({ node_id: NodeId }),
    body: v.strictObject({
      kind: v.picklist(TASK_KINDS),
      /** As functions/tasks/task.ts has it for each kind. */
      payload: v.record(v.string(), v.unknown()),
      deadline_seconds: DeadlineSeconds,
    }),
    reply: TaskView,
    status: 202,
    refusals: [
      'node.unknown',
      'node.not_enrolled',
      'task.image_unknown',
      'task.too_large',
      'workload.unknown',
      'workload.exists',
      'workload.other_engine',
      'workload.leaving',
    ],
  },
  async (ctx, { params, body: { kind, payload: sent, deadline_seconds } }) => {
    const payload = parsePayload(kind, sent);
    const node_id = lowerCased(params.node_id);
    const images = isLaunching(payload) ? await findImages(payload) : [];
    const { task, writes, events } = await planTask(
      ctx,
      { node_id, kind, payload, deadline_seconds },
      images,
    );
    const { subject, fence, deadline_at } = task;
    return {
      subject: subjectOfKept(task),
      after: { node_id, kind, subject, fence, deadline_at },
      writes,
      events,
      reply: viewTask(task),
      location: pathOfTask(task),
    };
  },
);

function parsePayload(kind: TaskKind, sent: unknown): Payload {
  const schema = payloadSchema(kind) as v.GenericSchema<unknown, Payload>;
  return parse(schema, sent, ({ faults }) =>
    refuse('request.invalid', {
      faults: faults.map((fault) => ({ ...fault, pointer: `/payload${fault.pointer}` })),
    }),
  );
}

const isLaunching = (payload: Payload): payload is Payload<'oci.launch' | 'compose.up'> =>
  'container' in payload || 'containers' in payload;
