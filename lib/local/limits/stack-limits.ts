import type { AssembledStack } from '../template/assembly.ts';
import { count, type Limit } from './limit.ts';

const QUOTAS = 'https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html';
const OUTPUTS =
  'https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/outputs-section-structure.html';

const SECTIONS = { Resources: 500, Outputs: 200, Parameters: 200, Mappings: 200 } as const;
const TEMPLATE_BYTES_MAX = 1_000_000;

const sections: Limit = {
  name: 'entries of a template',
  source: QUOTAS,
  check: ({ stacks }) =>
    stacks.flatMap(({ name, template }) =>
      Object.entries(SECTIONS).flatMap(([section, max]) => {
        const { length } = Object.keys(template[section as keyof typeof SECTIONS] ?? {});
        if (length <= max) return [];
        return [
          `${name}: the template has ${length} ${section}; a stack has at most ${max}. Split the stack.`,
        ];
      }),
    ),
};

const templateSize: Limit = {
  name: 'size of a template',
  source: QUOTAS,
  check: ({ stacks }) =>
    stacks.flatMap(({ name, template }) => {
      // As the CDK writes it and uploads it.
      const size = Buffer.byteLength(JSON.stringify(template, undefined, 1));
      if (size <= TEMPLATE_BYTES_MAX) return [];
      return [`${name}: the template has ${count(size)} bytes; CloudFormation reads 1 MB. Split the stack.`];
    }),
};

const exportNames: Limit = {
  name: 'names of exports',
  source: OUTPUTS,
  check: ({ stacks }) =>
    stacks.flatMap(({ name, template }) =>
      Object.entries(template.Outputs ?? {})
        .filter(([, output]) => typeof output.Export?.Name === 'string')
        .map(
          ([output, { Export }]) =>
            `${name}/${output} is exported as ${String(Export?.Name)}: an account has this name once, and what another ` +
            'stack imports can neither change nor go. Read the output with Fn::GetStackOutput instead.',
        ),
    ),
};

const resolvable: Limit = {
  name: 'references',
  source: OUTPUTS,
  check: ({ unresolved }) => unresolved,
};

const stackOrder: Limit = {
  name: 'order of stacks',
  source: OUTPUTS,
  check: ({ stacks }) =>
    stacks.flatMap((stack, index) => {
      const notBefore = new Set(stacks.slice(index).map(({ name }) => name));
      return [...readStacks(stack, stacks)]
        .filter((name) => notBefore.has(name))
        .map((name) => {
          if (name === stack.name) return `${name} reads an output of its own. Refer to the resource.`;
          return (
            `${stack.name} reads an output of ${name}, which is deployed after it. ` +
            'Let references between stacks point one way.'
          );
        });
    }),
};

/** The stacks whose outputs a stack reads. */
function readStacks({ template }: AssembledStack, stacks: readonly AssembledStack[]): Set<string> {
  const read = new Set<string>();
  const exporters = new Map(
    stacks.flatMap(({ name, template: { Outputs } }) =>
      Object.values(Outputs ?? {}).map((output) => [JSON.stringify(output.Export?.Name), name]),
    ),
  );
  const visit = (value: unknown): void => {
    if (value === null || typeof value !== 'object') return;
    for (const [key, argument] of Object.entries(value)) {
      if (key === 'Fn::GetStackOutput') read.add(String((argument as { StackName: unknown }).StackName));
      if (key === 'Fn::ImportValue') read.add(exporters.get(JSON.stringify(argument)) ?? '');
      visit(argument);
    }
  };
  visit(template);
  return read;
}

export const stackLimits = [sections, templateSize, exportNames, resolvable, stackOrder];
