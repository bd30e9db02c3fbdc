import {
  CreateBucketCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { hash } from 'node:crypto';
import type { Artifact } from '../../functions/artifacts/artifact.ts';
import { insertArtifact } from '../../functions/artifacts/save-artifact.ts';
import { findArtifactPromotion } from '../../functions/artifacts/find-artifact.ts';
import { instanceUseKey } from '../../functions/artifacts/keys.ts';
import { fileUri, objectKeyOf, signatureKeyOf } from '../../functions/storage/repository.ts';
import type { Promotion } from '../../functions/promotion/promotion.ts';
import { planProject, type Project } from '../../functions/identity/project.ts';
import { insertProject } from '../../functions/identity/project-store.ts';
import { commit } from '../../functions/platform/data/commit.ts';
import type { Endpoint } from '../../functions/platform/http/endpoint.ts';
import { newId } from '../../functions/platform/ids.ts';
import { putItem, takeItem } from '../../functions/platform/data/table.ts';
import { openPromotionWorld } from '../promotion/promotion-world.ts';
import { openAwsServices } from '../local/services/aws-services-world.ts';
import { until } from '../until.ts';
import { planArtifact } from './planned-artifact.ts';
import { policyOfTests, signFile } from './signed-file.ts';

const Bucket = 'artifacts';
/** What the services of the bucket are opened with: one caller is known to both. */
const SECRET = Buffer.alloc(32, 7);

/** The machine with artifacts to promote: files in a real bucket, with real signatures. */
export async function openLifecycleWorld() {
  const world = await openPromotionWorld({ kind: 'artifact', secret: SECRET });
  const services = await openAwsServices();
  const s3 = new S3Client(services.asOperator());
  await s3.send(new CreateBucketCommand({ Bucket }));
  const VersioningConfiguration = { Status: 'Enabled' as const };
  await s3.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration }));
  Object.assign(process.env, { AWS_ENDPOINT_URL_S3: services.url, ARTIFACTS_BUCKET: Bucket });
  const openProject = async (): Promise<Project> => {
    const slug = `p-${newId()}`.slice(0, 40);
    const opened = planProject(newId(), newId(), { name: 'A project', slug }, new Date());
    await commit(insertProject(opened));
    return opened;
  };
  const project = planProject(newId(), newId(), { name: 'A project', slug: 'a-project' }, new Date());
  const furnish = async (): Promise<void> => {
    await putItem(policyOfTests(new Date()));
    await commit(insertProject(project));
  };
  await furnish();

  const put = async (Key: string, Body: string | Buffer): Promise<string> =>
    (await s3.send(new PutObjectCommand({ Bucket, Key, Body }))).VersionId ?? '';
  const find = ({ id }: Pick<Artifact, 'id'>) => findArtifactPromotion(id);

  return {
    ...world,
    async renew(): Promise<void> {
      await world.renew();
      await furnish();
    },
    openProject,
    find,
    /** A file in some state, signed unless that is not wanted. */
    async artifact(
      { signed = true, ...stated }: Partial<Artifact> & { signed?: boolean } = {},
      of = project,
    ): Promise<Artifact> {
      const content = newId();
      const named = {
        app_slug: `app-${content}`.slice(0, 40),
        app_version: '1.0.0',
        artifact_name: 'weights',
      };
      const key = objectKeyOf({ project_id: of.id, ...named, ...stated });
      const version_id = await put(key, content);
      if (signed) await put(signatureKeyOf(key), await signFile(content, new Date()));
      const planned = planArtifact(
        of,
        {
          ...named,
          artifact_kind: 'blob',
          source_type: 'artifact_store',
          source_uri: fileUri(key),
          digest: `sha256:${hash('sha256', content)}`,
          media_type: 'application/octet-stream',
          size_bytes: Buffer.byteLength(content),
          object: { key, version_id },
          ...stated,
        },
        new Date(),
      );
      await commit(insertArtifact(planned));
      return planned;
    },
    /** Calls an endpoint as a platform admin, that of a version for one. */
    askAny: (...call: Parameters<typeof world.ask>) => world.ask(...call),
    /** The same in the artifact's project. */
    ask: (endpoint: Endpoint, { id, project_id, org_id }: Artifact, body?: object) =>
      world.ask(endpoint, { project_id, artifact_id: id }, body, {
        project: { id: project_id, org_id, slug: '', name: '', status: 'active', version: 1 },
      }),
    /** The promotion once it is at the step, or at its end. */
    settled: (artifact: Artifact, step: Promotion['step']): Promise<Promotion> =>
      until(async () => {
        const { promotion } = await find(artifact);
        return (promotion?.step === step || promotion?.step === 'ended') && promotion;
      }, `the artifact to come to “${step}”`),
    /** An instance that runs it, in a project of its own. */
    async use({ digest, app_slug, app_version }: Artifact, stated: object = {}): Promise<string> {
      const app_instance_id = newId();
      const started_at = new Date().toISOString();
      const place = { org_id: newId(), project_id: newId() };
      const row = { app_instance_id, ...place, app_slug, app_version, started_at, ...stated };
      await putItem({ ...instanceUseKey(digest, app_instance_id), ...row });
      return app_instance_id;
    },
    end: ({ digest }: Artifact, instanceId: string) => takeItem(instanceUseKey(digest, instanceId)),
    async close(): Promise<void> {
      await world.close();
      await services.close();
    },
  };
}

export type LifecycleWorld = Awaited<ReturnType<typeof openLifecycleWorld>>;
