import { beyondLimits, type LimitOptions } from '../../../lib/local/limits/check-limits.ts';
import type { Template, TemplateResource } from '../../../lib/local/template/template.ts';

export type Resources = Record<string, TemplateResource>;

/** What AWS would say of these templates, deployed in this order. */
export function findings(templates: Record<string, Template>, options?: LimitOptions): string[] {
  const stacks = Object.entries(templates).map(([name, template]) => ({ name, template, assets: new Map() }));
  return beyondLimits(stacks, options);
}

/** What AWS would say of one stack of these resources. */
export const findingsOf = (resources: Resources, options?: LimitOptions): string[] =>
  findings({ S: { Resources: resources } }, options);

export const resource = (type: string, properties: Record<string, unknown> = {}): TemplateResource => ({
  Type: `AWS::${type}`,
  Properties: properties,
});

export const lambda = (properties: Record<string, unknown> = {}): TemplateResource =>
  resource('Lambda::Function', { Runtime: 'nodejs24.x', Handler: 'index.handler', ...properties });

/** So many of something. */
export const many = (times: number, one: (index: number) => TemplateResource): Resources =>
  Object.fromEntries(Array.from({ length: times }, (_, index) => [`R${index}`, one(index)]));

export const arnOf = (logicalId: string, attribute = 'Arn'): unknown => ({
  'Fn::GetAtt': [logicalId, attribute],
});
