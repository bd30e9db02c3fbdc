// Which of ECR's permissions a request of the distribution API takes. ECR names those of a push in its guide
// (“IAM permissions for pushing an image”); the calls of its own API tell which of them a request amounts to.

export interface RegistryCall {
  repository: string;
  /** All of them are needed. */
  permissions: string[];
  /** The tag that a manifest is put under. */
  tag?: string;
}

type Method = 'HEAD' | 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

interface Resource {
  path: RegExp;
  permissions: Partial<Record<Method, string[]>>;
}

const READ_MANIFEST = ['ecr:BatchGetImage'];

/** The first whose path fits. */
const RESOURCES: Resource[] = [
  {
    path: /^\/v2\/(?<repository>.+)\/manifests\/(?<reference>[^/]+)$/,
    permissions: {
      HEAD: READ_MANIFEST,
      GET: READ_MANIFEST,
      PUT: ['ecr:PutImage'],
      DELETE: ['ecr:BatchDeleteImage'],
    },
  },
  {
    path: /^\/v2\/(?<repository>.+)\/blobs\/uploads\/?$/,
    permissions: { POST: ['ecr:InitiateLayerUpload', 'ecr:BatchCheckLayerAvailability'] },
  },
  {
    path: /^\/v2\/(?<repository>.+)\/blobs\/uploads\/[^/]+$/,
    permissions: { PATCH: ['ecr:UploadLayerPart'], PUT: ['ecr:CompleteLayerUpload'] },
  },
  {
    path: /^\/v2\/(?<repository>.+)\/blobs\/[^/]+$/,
    permissions: { HEAD: ['ecr:BatchCheckLayerAvailability'], GET: ['ecr:GetDownloadUrlForLayer'] },
  },
  { path: /^\/v2\/(?<repository>.+)\/tags\/list$/, permissions: { GET: ['ecr:ListImages'] } },
  { path: /^\/v2\/(?<repository>.+)\/referrers\/[^/]+$/, permissions: { GET: READ_MANIFEST } },
];

/** A path is taken decoded, as the registry takes it. */
export function readCall(
  method: string,
  path: string,
  hasBody: boolean,
): RegistryCall | 'unknown_path' | 'unknown_method' {
  for (const resource of RESOURCES) {
    const { repository, reference } = resource.path.exec(path)?.groups ?? {};
    if (repository === undefined) continue;
    const permissions = resource.permissions[method as Method];
    if (permissions === undefined) return 'unknown_method';
    // The last part of a layer may come with the request that ends it, and a small layer as a whole.
    const isLastPart = permissions.includes('ecr:CompleteLayerUpload') && hasBody;
    const isTag = method === 'PUT' && reference !== undefined && !reference.includes(':');
    return {
      repository,
      permissions: isLastPart ? ['ecr:UploadLayerPart', ...permissions] : permissions,
      ...(isTag && { tag: reference }),
    };
  }
  return 'unknown_path';
}
