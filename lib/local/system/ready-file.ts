import { mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { writeWhole } from '../journal/write-whole.ts';

/** Where everything is, for scripts. It appears whole, and only while the platform answers. */
export interface ReadyFile {
  pid: number;
  api_url: string;
  ws_url: string | null;
  aws_endpoint: string;
  region: string;
  /** Who signs people in: the OpenID provider of this machine. */
  oidc_issuer: string;
  /** Host and port images are pushed to; null when no registry runs. */
  registry: string | null;
  /** For DOCKER_HOST; null when there is no container engine. */
  docker_host: string | null;
  /** An AWS credentials file of the person at this machine, who may do everything. */
  aws_credentials_file: string;
  /**
   * The organisation and project to try things in, the app to try first, and the files to sign with; where this machine is
   * a host, its node and what the project holds of it.
   */
  demo?: {
    org_id: string;
    project_id: string;
    app_slug: string;
    app_version: string;
    app_status: string;
    signing: { key: string; chain: string };
    node_id?: string;
    sku?: string;
    allocation_id?: string;
  };
}

export function writeReadyFile(path: string, content: ReadyFile): void {
  mkdirSync(dirname(path), { recursive: true });
  writeWhole(path, `${JSON.stringify(content, null, 2)}\n`);
}

export function removeReadyFile(path: string): void {
  rmSync(path, { force: true });
}
