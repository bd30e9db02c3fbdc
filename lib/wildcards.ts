// Every place where a role's policy is wider than one resource, and why AWS or the design leaves no narrower
// one. A test compares these lists with the synthesized template: nothing wider slips in unnoticed.

interface Wildcard {
  actions: string[];
  reason: string;
}

/** Actions granted on `*`. */
export const ANY_RESOURCE = {
  tracing: {
    actions: ['xray:PutTraceSegments', 'xray:PutTelemetryRecords'],
    reason: 'X-Ray has no resources to name: segments are written to the account.',
  },
  traceSampling: {
    actions: ['xray:GetSamplingRules', 'xray:GetSamplingTargets'],
    reason: 'X-Ray sampling rules are read for the whole account; Step Functions asks for both.',
  },
  streamListing: {
    actions: ['dynamodb:ListStreams'],
    reason: 'Lambda lists streams before it polls one; listing takes no resource.',
  },
  logDelivery: {
    actions: [
      'logs:CreateLogDelivery',
      'logs:GetLogDelivery',
      'logs:UpdateLogDelivery',
      'logs:DeleteLogDelivery',
      'logs:ListLogDeliveries',
      'logs:PutResourcePolicy',
      'logs:DescribeResourcePolicies',
      'logs:DescribeLogGroups',
    ],
    reason: 'Step Functions sets up its log delivery with calls that take no resource.',
  },
} as const satisfies Record<string, Wildcard>;

/** Actions granted on a prefix, because what they name is made at run time. */
export const PREFIXES = {
  connections: {
    actions: ['execute-api:ManageConnections'],
    resource: /\/POST\/@connections\/\*$/,
    reason: 'Connection ids are made by the gateway when a client connects; the stage and method are fixed.',
  },
} as const satisfies Record<string, Wildcard & { resource: RegExp }>;
