// The images of a workload: admitted, then on the engine, by the very digest that was judged.

import type { TrustDocument } from '../../functions/tasks/agent-api.ts';
import type { Container } from '../../functions/tasks/task.ts';
import { TaskFailed } from '../tasks/performer.ts';
import { type Credentials, type ImageName, nameOf, requireAssigned, requireSigned } from './admission.ts';
import type { Engine } from './engine.ts';
import { orAborted } from './deadline.ts';
import { failureOf, isEngineGone, unlessAbsent } from './engine-errors.ts';
import { readUserFiles } from './image-files.ts';
import { isNamed, resolveUser, type User } from './user.ts';
import type { Verdicts } from './verdicts.ts';

/** An image on the engine, as containers are made of it. */
export interface Image {
  reference: string;
  env: string[];
  volumes: string[];
  /** Nothing where it does not say who runs it. */
  user?: User;
}

export class Images {
  #engine: Engine;
  #verdicts: Verdicts;
  /** Many workloads may want the same one at the same moment. */
  #pulls = new Map<string, Promise<void>>();
  /** An image never changes under its digest. */
  #known = new Map<string, Image>();

  constructor(engine: Engine, verdicts: Verdicts) {
    this.#engine = engine;
    this.#verdicts = verdicts;
  }

  /** By name@digest, for every container. What is revoked or not signed is known before anything is downloaded. */
  async ensure(
    containers: Container[],
    trust: TrustDocument,
    signal: AbortSignal,
  ): Promise<Map<string, Image>> {
    for (const container of containers) requireAssigned(container, trust);
    const wanted = new Map(containers.map((container) => [nameOf(container), container]));
    const repositories = [...new Set(containers.map(({ repository }) => repository))];
    let asked: Promise<Credentials> | undefined;
    const credentials = (): Promise<Credentials> =>
      (asked ??= this.#engine.channel.pullCredentials(repositories).catch((error: unknown) => {
        throw failureOf(error, 'image_pull_failed');
      }));
    const found = await Promise.all(
      [...wanted].map(async ([name, image]) => {
        const admission = { trust, verdicts: this.#verdicts, now: this.#engine.now(), credentials };
        const host = await requireSigned(image, admission);
        return [name, await this.#onEngine(image, host, credentials, signal)] as const;
      }),
    );
    return new Map(found);
  }

  async #onEngine(
    image: ImageName,
    host: string,
    credentials: () => Promise<Credentials>,
    signal: AbortSignal,
  ): Promise<Image> {
    const reference = `${host}/${nameOf(image)}`;
    const present = await this.#inspect(reference);
    if (present) return present;
    await orAborted(this.#pullOnce(reference, await credentials()), signal);
    const pulled = await this.#inspect(reference);
    if (pulled) return pulled;
    throw new TaskFailed('image_pull_failed', `The engine has pulled another image than ${nameOf(image)}.`);
  }

  async #inspect(reference: string): Promise<Image | undefined> {
    const found = await unlessAbsent(this.#engine.docker.getImage(reference).inspect());
    if (!found?.RepoDigests.includes(reference)) return undefined;
    const known = this.#known.get(reference);
    if (known) return known;
    // Newer engines leave out what is empty.
    const config: Partial<typeof found.Config> = found.Config;
    const { Env, Volumes } = config;
    const user = config.User ?? '';
    const image = { reference, env: Env ?? [], volumes: Object.keys(Volumes ?? {}) };
    const files = isNamed(user) && (await readUserFiles(this.#engine, reference));
    const resolved = resolveUser(user, files || { passwd: '', group: '' });
    if (user !== '' && resolved === undefined)
      throw new TaskFailed(
        'root_refused',
        `The image does not say which number its user ${user.slice(0, 64)} has.`,
      );
    const whole = { ...image, ...(resolved && { user: resolved }) };
    this.#known.set(reference, whole);
    return whole;
  }

  #pullOnce(reference: string, login: Credentials): Promise<void> {
    const begun = this.#pulls.get(reference);
    if (begun) return begun;
    const pull = this.#pull(reference, login).finally(() => this.#pulls.delete(reference));
    this.#pulls.set(reference, pull);
    return pull;
  }

  async #pull(reference: string, login: Credentials): Promise<void> {
    const { docker } = this.#engine;
    const authconfig = {
      username: login.username,
      password: login.password,
      serveraddress: login.registry_host,
    };
    try {
      const progress = await docker.pull(reference, { authconfig });
      await new Promise<void>((resolve, reject) => {
        progress.once('error', reject);
        // A connection that breaks off ends the list of what happened without a word.
        progress.once('aborted', () => reject(new Error('aborted')));
        docker.modem.followProgress(progress, (error) => (error ? reject(error) : resolve()));
      });
    } catch (error) {
      if (isEngineGone(error)) throw error;
      throw failureOf(error, 'image_pull_failed');
    }
  }
}
