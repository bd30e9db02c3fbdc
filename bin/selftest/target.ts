import { existsSync, readFileSync } from 'node:fs';
import { SQSClient } from '@aws-sdk/client-sqs';
import * as v from 'valibot';
import type { Credentials, Signer } from './signed-request.ts';

export interface Target extends Signer {
  apiUrl: string;
}

/** A target that cannot be tested, in words for the person who asked. */
export class NoTarget extends Error {}

const Ready = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({ api_url: v.string(), region: v.string(), aws_credentials_file: v.string() }),
);

/** The platform on this machine, as its ready file describes it. */
export function localTarget(readyFile: string): Target {
  if (!existsSync(readyFile)) {
    throw new NoTarget(
      `The platform is not running: there is no ${readyFile}. Start it with “npm start”, or name a deployed one with --url.`,
    );
  }
  const ready = v.parse(Ready, readFileSync(readyFile, 'utf8'));
  return {
    apiUrl: ready.api_url,
    region: ready.region,
    credentials: readCredentials(ready.aws_credentials_file),
  };
}

/** A deployed platform, with the credentials AWS tools would use: environment, profile, single sign-on. */
export async function deployedTarget(apiUrl: string): Promise<Target> {
  const region = /\.execute-api\.([\w-]+)\.amazonaws\./.exec(apiUrl)?.[1] ?? process.env.AWS_REGION;
  if (!region) throw new NoTarget(`The region of ${apiUrl} is unknown. Set AWS_REGION.`);
  try {
    const credentials = await new SQSClient({ region }).config.credentials();
    return { apiUrl, region, credentials };
  } catch (error) {
    throw new NoTarget(
      `No AWS credentials were found: ${error instanceof Error ? error.message : String(error)}. Set AWS_PROFILE or the AWS_ACCESS_KEY_ID variables.`,
    );
  }
}

function readCredentials(file: string): Credentials {
  const text = readFileSync(file, 'utf8');
  const value = (name: string) => new RegExp(`^${name}\\s*=\\s*(\\S+)`, 'm').exec(text)?.[1];
  const accessKeyId = value('aws_access_key_id');
  const secretAccessKey = value('aws_secret_access_key');
  if (!accessKeyId || !secretAccessKey) throw new NoTarget(`${file} has no AWS credentials.`);
  const sessionToken = value('aws_session_token');
  return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
}
