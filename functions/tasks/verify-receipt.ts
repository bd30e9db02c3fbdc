import { isDeepStrictEqual } from 'node:util';
import { compactVerify, importJWK } from 'jose';
import * as v from 'valibot';
import type { ScopedNode } from '../platform/scope.ts';
import type { ReceiptVerdict } from './outcome.ts';
import type { KeptTask } from './task-row.ts';
import { Receipt, type TaskResult } from './task.ts';

/** Whether the host proved what it removed: its own signature, over this very receipt, about this very task. */
export async function verifyReceipt(
  { receipt, receipt_signature }: TaskResult,
  task: Pick<KeptTask, 'id' | 'node_id' | 'workload_id'>,
  { public_key_jwk }: Pick<ScopedNode, 'public_key_jwk'>,
): Promise<ReceiptVerdict> {
  if (!receipt || receipt_signature === undefined) return 'missing';
  const signed = await signedReceipt(receipt_signature, task.node_id, public_key_jwk);
  if (!isDeepStrictEqual(signed, receipt)) return 'forged';
  const { task_id, workload_id, node_id } = receipt;
  if (task_id !== task.id || workload_id !== task.workload_id || node_id !== task.node_id)
    return 'of_another_task';
  return receipt.remaining.length === 0 ? 'valid' : 'leftovers';
}

async function signedReceipt(
  jws: string,
  nodeId: string,
  publicKey: ScopedNode['public_key_jwk'],
): Promise<Receipt | undefined> {
  try {
    const { payload, protectedHeader } = await compactVerify(jws, await importJWK(publicKey, 'ES256'), {
      algorithms: ['ES256'],
    });
    if (protectedHeader.kid !== nodeId) return undefined;
    return v.parse(Receipt, JSON.parse(Buffer.from(payload).toString('utf8')));
  } catch {
    return undefined;
  }
}
