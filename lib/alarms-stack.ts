import { Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { Alarms } from './alarms.ts';

/** Watches all other stacks, so it is made after them. */
export class AlarmsStack extends Stack {
  constructor(scope: Construct, id: string, props: StackProps) {
    super(scope, id, props);
    new Alarms(this, 'Alarms');
  }
}
