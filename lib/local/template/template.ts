import { ACCOUNT, REGION } from '../wire/aws.ts';
import type { AssembledStack } from './assembly.ts';

export interface Template {
  Parameters?: Record<string, { Type: string; Default?: unknown }>;
  Conditions?: Record<string, unknown>;
  Mappings?: Record<string, Record<string, Record<string, unknown>>>;
  Resources?: Record<string, TemplateResource>;
  Outputs?: Record<string, { Value: unknown; Export?: { Name: unknown }; Condition?: string }>;
}

export interface TemplateResource {
  Type: string;
  Properties?: Record<string, unknown>;
  Condition?: string;
}

/** What CloudFormation would call a resource once it exists. Attributes learnt from an engine are functions. */
export interface Identity {
  ref: string;
  attributes?: Record<string, string | (() => string)>;
}

/** A resource as the template declares it, its properties with every intrinsic resolved. */
export interface Declared {
  stack: string;
  logicalId: string;
  type: string;
  properties: Record<string, unknown>;
  identity: Identity;
  assets: Map<string, string>;
}

export type Identify = (resource: Omit<Declared, 'identity'>) => Identity;

const NO_VALUE = Symbol('AWS::NoValue');

/**
 * Resolves a set of stacks the way CloudFormation does. Identities are derived from names, not from the
 * order things are made in, so references may point anywhere, in circles of resources too.
 */
export class Templates {
  #stacks: Map<string, AssembledStack>;
  #identify: Identify;
  #declared = new Map<string, Declared>();
  #underway = new Set<string>();

  constructor(stacks: AssembledStack[], identify: Identify) {
    this.#stacks = new Map(stacks.map((stack) => [stack.name, stack]));
    this.#identify = identify;
  }

  /** Every resource whose condition holds. */
  resources(): Declared[] {
    return [...this.#stacks.values()].flatMap((stack) =>
      Object.entries(stack.template.Resources ?? {})
        .filter(([, resource]) => this.#holds(stack, resource.Condition))
        .map(([logicalId]) => this.declared(stack.name, logicalId)),
    );
  }

  declared(stackName: string, logicalId: string): Declared {
    const key = `${stackName}/${logicalId}`;
    const known = this.#declared.get(key);
    if (known !== undefined) return known;
    if (this.#underway.has(key)) throw new Error(`${key} refers to itself: its references are circular.`);
    const stack = this.#stack(stackName);
    const resource = stack.template.Resources?.[logicalId];
    if (resource === undefined)
      throw new Error(`${stackName} refers to ${logicalId}, which is not in its template.`);
    const resolve = (value: unknown): unknown => this.#resolve(stack, value);
    this.#underway.add(key);
    try {
      const properties = lazyProperties(resource.Properties ?? {}, resolve);
      const declared = { stack: stackName, logicalId, type: resource.Type, properties, assets: stack.assets };
      const complete = { ...declared, identity: this.#identify(declared) };
      this.#declared.set(key, complete);
      return complete;
    } finally {
      this.#underway.delete(key);
    }
  }

  outputs(stackName: string): Record<string, unknown> {
    const stack = this.#stack(stackName);
    return Object.fromEntries(
      Object.entries(stack.template.Outputs ?? {})
        .filter(([, output]) => this.#holds(stack, output.Condition))
        .map(([name, output]) => [name, this.#resolve(stack, output.Value)]),
    );
  }

  #stack(name: string): AssembledStack {
    const stack = this.#stacks.get(name);
    if (stack === undefined) throw new Error(`There is no stack ${name} in this assembly.`);
    return stack;
  }

  #resolve(stack: AssembledStack, value: unknown): unknown {
    if (Array.isArray(value)) {
      return value.map((item) => this.#resolve(stack, item)).filter((item) => item !== NO_VALUE);
    }
    if (value === null || typeof value !== 'object') return value;
    const entries = Object.entries(value);
    const [name, argument] = entries[0] ?? [];
    if (entries.length === 1 && name !== undefined && (name === 'Ref' || name.startsWith('Fn::'))) {
      return this.#intrinsic(stack, name, argument);
    }
    const resolved = entries.map(([key, item]) => [key, this.#resolve(stack, item)] as const);
    return Object.fromEntries(resolved.filter(([, item]) => item !== NO_VALUE));
  }

  #intrinsic(stack: AssembledStack, name: string, argument: unknown): unknown {
    const list = (): unknown[] => this.#resolve(stack, argument) as unknown[];
    switch (name) {
      case 'Ref':
        return this.#ref(stack, argument as string);
      case 'Fn::GetAtt':
        return this.#attribute(stack, argument as string | [string, string]);
      case 'Fn::Join': {
        const [separator, parts] = list() as [string, unknown[]];
        return parts.map(String).join(separator);
      }
      case 'Fn::Sub':
        return this.#sub(stack, argument as string | [string, Record<string, unknown>]);
      case 'Fn::Select': {
        const [index, items] = list() as [number | string, unknown[]];
        return items[Number(index)];
      }
      case 'Fn::Split': {
        const [separator, text] = list() as [string, string];
        return text.split(separator);
      }
      case 'Fn::If': {
        const [condition, whenTrue, whenFalse] = argument as [string, unknown, unknown];
        return this.#resolve(stack, this.#holds(stack, condition) ? whenTrue : whenFalse);
      }
      case 'Fn::GetStackOutput': {
        const { StackName, OutputName } = this.#resolve(stack, argument) as Record<string, string>;
        return this.#output(StackName ?? '', OutputName ?? '');
      }
      case 'Fn::ImportValue':
        return this.#import(this.#resolve(stack, argument) as string);
      case 'Fn::FindInMap': {
        const [map, first, second] = list() as [string, string, string];
        return stack.template.Mappings?.[map]?.[first]?.[second];
      }
      case 'Fn::Base64':
        return Buffer.from(String(this.#resolve(stack, argument))).toString('base64');
      case 'Fn::Equals': {
        const [left, right] = list();
        return left === right;
      }
      case 'Fn::And':
        return (argument as unknown[]).every((item) => this.#condition(stack, item));
      case 'Fn::Or':
        return (argument as unknown[]).some((item) => this.#condition(stack, item));
      case 'Fn::Not':
        return !this.#condition(stack, (argument as unknown[])[0]);
      default:
        throw new Error(`${stack.name} uses ${name}, which the local engine cannot resolve.`);
    }
  }

  #ref(stack: AssembledStack, name: string): unknown {
    const pseudo = pseudoParameter(stack.name, name);
    if (pseudo !== undefined) return pseudo;
    const parameter = stack.template.Parameters?.[name];
    if (parameter !== undefined) {
      if (parameter.Default !== undefined) return parameter.Default;
      throw new Error(
        `${stack.name} has the parameter ${name} without a default, and the local engine cannot ask for a value.`,
      );
    }
    return this.declared(stack.name, name).identity.ref;
  }

  #attribute(stack: AssembledStack, argument: string | [string, string]): unknown {
    const [logicalId, name] = typeof argument === 'string' ? splitOnce(argument) : argument;
    const resource = this.declared(stack.name, logicalId);
    const attribute = resource.identity.attributes?.[name];
    if (attribute === undefined) {
      throw new Error(
        `${stack.name}/${logicalId} (${resource.type}) has no attribute ${name} on this machine.`,
      );
    }
    return typeof attribute === 'function' ? attribute() : attribute;
  }

  #sub(stack: AssembledStack, argument: string | [string, Record<string, unknown>]): string {
    const [text, values] = typeof argument === 'string' ? [argument, {}] : argument;
    return text.replaceAll(/\$\{(!?)([^}]+)\}/g, (_, literal: string, name: string) => {
      if (literal !== '') return `\${${name}}`;
      if (name in values) return String(this.#resolve(stack, values[name]));
      return String(name.includes('.') ? this.#attribute(stack, name) : this.#ref(stack, name));
    });
  }

  #output(stackName: string, name: string): unknown {
    const output = this.#stack(stackName).template.Outputs?.[name];
    if (output === undefined) throw new Error(`${stackName} has no output ${name}.`);
    return this.#resolve(this.#stack(stackName), output.Value);
  }

  #import(exportName: string): unknown {
    for (const stack of this.#stacks.values()) {
      for (const output of Object.values(stack.template.Outputs ?? {})) {
        if (output.Export !== undefined && this.#resolve(stack, output.Export.Name) === exportName) {
          return this.#resolve(stack, output.Value);
        }
      }
    }
    throw new Error(`No stack of this assembly exports ${exportName}.`);
  }

  #holds(stack: AssembledStack, condition: string | undefined): boolean {
    if (condition === undefined) return true;
    const expression = stack.template.Conditions?.[condition];
    if (expression === undefined) throw new Error(`${stack.name} has no condition ${condition}.`);
    return this.#condition(stack, expression);
  }

  #condition(stack: AssembledStack, expression: unknown): boolean {
    if (expression !== null && typeof expression === 'object' && 'Condition' in expression) {
      return this.#holds(stack, expression.Condition as string);
    }
    return this.#resolve(stack, expression) === true;
  }
}

function pseudoParameter(stackName: string, name: string): unknown {
  switch (name) {
    case 'AWS::Region':
      return REGION;
    case 'AWS::AccountId':
      return ACCOUNT;
    case 'AWS::Partition':
      return 'aws';
    case 'AWS::URLSuffix':
      return 'amazonaws.com';
    case 'AWS::StackName':
      return stackName;
    case 'AWS::StackId':
      return `arn:aws:cloudformation:${REGION}:${ACCOUNT}:stack/${stackName}/local`;
    case 'AWS::NoValue':
      return NO_VALUE;
    default:
      return undefined;
  }
}

/** A name may be needed while another property of the same resource is still unresolvable, so each waits its turn. */
function lazyProperties(
  properties: Record<string, unknown>,
  resolve: (value: unknown) => unknown,
): Record<string, unknown> {
  const lazy: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(properties)) {
    let resolved: { value: unknown } | undefined;
    Object.defineProperty(lazy, name, {
      enumerable: true,
      get: () => {
        resolved ??= { value: resolve(value) };
        return resolved.value === NO_VALUE ? undefined : resolved.value;
      },
    });
  }
  return lazy;
}

function splitOnce(text: string): [string, string] {
  const dot = text.indexOf('.');
  return [text.slice(0, dot), text.slice(dot + 1)];
}
