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
    reason: 'X-Ray actions take no resource: segments are written to the account.',
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
  registryLogin: {
    actions: ['ecr:GetAuthorizationToken'],
    reason: 'ECR logs a caller in to the whole registry; what it may do there is granted by repository.',
  },
} as const satisfies Record<string, Wildcard>;

/** Actions granted on a prefix, because what they name is made at run time. */
export const PREFIXES = {
  connections: {
    actions: ['execute-api:ManageConnections'],
    resource: /\/POST\/@connections\/\*$/,
    reason: 'The gateway creates connection ids when a client connects; the stage and method are fixed.',
  },
  appRepositories: {
    actions: [
      'ecr:CreateRepository',
      'ecr:DescribeImages',
      'ecr:BatchGetImage',
      'ecr:GetDownloadUrlForLayer',
      'ecr:BatchDeleteImage',
    ],
    resource: /:repository\/gpuaas\/apps\/\*$/,
    reason:
      'The repository of an app is created when its project first publishes; all repositories share one prefix.',
  },
  publishing: {
    actions: [
      'ecr:BatchGetImage',
      'ecr:BatchCheckLayerAvailability',
      'ecr:InitiateLayerUpload',
      'ecr:UploadLayerPart',
      'ecr:CompleteLayerUpload',
      'ecr:PutImage',
    ],
    resource: /:repository\/gpuaas\/apps\/\*$/,
    reason: 'The role is never used as it is: each session is limited to one repository and a few minutes.',
  },
  nodeQueues: {
    actions: [
      'sqs:CreateQueue',
      'sqs:DeleteQueue',
      'sqs:GetQueueUrl',
      'sqs:SendMessage',
      'sqs:ReceiveMessage',
      'sqs:DeleteMessage',
      'sqs:ChangeMessageVisibility',
      'sqs:GetQueueAttributes',
    ],
    resource: /:gpuaas-node-\*$/,
    reason:
      'The queue of a node is made when its host joins; all share one prefix, and each session of a host is limited to its own.',
  },
  nodePulls: {
    actions: ['ecr:BatchGetImage', 'ecr:BatchCheckLayerAvailability', 'ecr:GetDownloadUrlForLayer'],
    resource: /:repository\/gpuaas\/apps\/\*$/,
    reason:
      'The role is never used as it is: each session is limited to the repositories of what its node is to run.',
  },
  artifactFiles: {
    actions: ['s3:GetObject', 's3:GetObjectVersion', 's3:PutObject', 's3:DeleteObjectVersion'],
    resource: /\/projects\/\*$/,
    reason: 'Objects are named when they are published; all are below the prefix of their project.',
  },
} as const satisfies Record<string, Wildcard & { resource: RegExp }>;
