import { readFileSync } from 'node:fs';
import { ACCOUNT, REGION } from '../wire/aws.ts';
import type { Declared } from '../template/template.ts';
import { physicalName, type ResourceKind } from './kind.ts';

export const stateMachine: ResourceKind = {
  type: 'AWS::StepFunctions::StateMachine',
  honoured: [
    'StateMachineName',
    'StateMachineType',
    'RoleArn',
    'Definition',
    'DefinitionString',
    'DefinitionS3Location',
    'DefinitionSubstitutions',
  ],
  ignored: ['LoggingConfiguration', 'TracingConfiguration', 'EncryptionConfiguration', 'Tags'],
  identify(resource) {
    const name = physicalName(resource, 'StateMachineName', 80);
    const arn = `arn:aws:states:${REGION}:${ACCOUNT}:stateMachine:${name}`;
    return { ref: arn, attributes: { Arn: arn, Name: name } };
  },
  plan(resource, plan) {
    const { properties, identity, stack, logicalId } = resource;
    if (properties['StateMachineType'] === 'EXPRESS')
      throw new Error(`${stack}/${logicalId} is an express workflow; the local engine runs standard ones.`);
    const substitutions =
      (properties['DefinitionSubstitutions'] as Record<string, unknown> | undefined) ?? {};
    const text = definitionText(resource).replaceAll(/\$\{(\w+)\}/g, (whole, name: string) => {
      if (!(name in substitutions))
        throw new Error(
          `${stack}/${logicalId} uses ${whole} in its definition, but nothing is substituted for it.`,
        );
      return String(substitutions[name]);
    });
    plan.machines.push({
      name: String(identity.attributes?.['Name']),
      arn: identity.ref,
      roleArn: properties['RoleArn'] as string,
      definition: JSON.parse(text) as object,
    });
  },
};

function definitionText(resource: Declared): string {
  const { DefinitionString, Definition, DefinitionS3Location } = resource.properties;
  if (typeof DefinitionString === 'string') return DefinitionString;
  if (Definition !== undefined) return JSON.stringify(Definition);
  const file = resource.assets.get((DefinitionS3Location as { Key?: string } | undefined)?.Key ?? '');
  if (file === undefined)
    throw new Error(
      `The definition of ${resource.stack}/${resource.logicalId} is not an asset of this assembly.`,
    );
  return readFileSync(file, 'utf8');
}
