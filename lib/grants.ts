import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';

type ItemAction =
  | 'GetItem'
  | 'BatchGetItem'
  | 'PutItem'
  | 'BatchWriteItem'
  | 'UpdateItem'
  | 'DeleteItem'
  | 'ConditionCheckItem'
  | 'Query';

/**
 * The right to do these things to items in these partitions of a table, and in no others: one table serves
 * every domain, so the partition is the border between them.
 */
export function grantItems(
  grantee: IFunction,
  table: ITable,
  grant: { actions: ItemAction[]; partitions: string[]; index?: string },
): void {
  grantee.addToRolePolicy(
    new PolicyStatement({
      actions: grant.actions.map((action) => `dynamodb:${action}`),
      resources: [grant.index ? `${table.tableArn}/index/${grant.index}` : table.tableArn],
      conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': grant.partitions } },
    }),
  );
}

export function grantInvoke(
  grantee: { addToPrincipalPolicy(statement: PolicyStatement): unknown },
  fn: IFunction,
) {
  grantee.addToPrincipalPolicy(
    new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [fn.functionArn] }),
  );
}

export function grantSend(grantee: IFunction, queue: IQueue): void {
  grantee.addToRolePolicy(new PolicyStatement({ actions: ['sqs:SendMessage'], resources: [queue.queueArn] }));
}
