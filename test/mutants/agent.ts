import type { Mutant } from './mutant.ts';

const TRUST = ['test/agent/engine/trust.test.ts'];
const HARDENING = ['test/agent/engine/hardening.test.ts'];
const OPTIONS = ['test/agent/engine/container-options.test.ts'];
const LIFECYCLE = ['test/agent/engine/lifecycle.test.ts'];
const FAILURES = ['test/agent/engine/failures.test.ts'];
const WATCH = ['test/agent/engine/watch.test.ts'];

export const agent: Mutant[] = [
  {
    what: 'an image whose signature does not hold starts all the same',
    file: 'agent/engine/admission.ts',
    from: "if (verdict !== 'verified' || valid_until === undefined)",
    to: 'if (valid_until === undefined && !fault)',
    noticedBy: TRUST,
  },
  {
    what: 'a revoked image starts',
    file: 'agent/engine/admission.ts',
    from: "if (image.status === 'revoked')",
    to: "if (image.status === 'revoked' && !assigned)",
    noticedBy: TRUST,
  },
  {
    what: 'a verdict counts after trust has changed',
    file: 'agent/engine/verdicts.ts',
    from: 'verdict?.trust_revision === trustRevision && ',
    to: 'verdict !== undefined && ',
    noticedBy: TRUST,
  },
  {
    what: 'a container keeps the capabilities that engines give by default',
    file: 'agent/engine/container-options.ts',
    from: "CapDrop: ['ALL'],",
    to: 'CapDrop: [],',
    noticedBy: OPTIONS,
  },
  {
    what: 'a port is published to the world',
    file: 'agent/engine/container-options.ts',
    from: "HostIp: '127.0.0.1', HostPort: String(port.host)",
    to: "HostIp: '0.0.0.0', HostPort: String(port.host)",
    noticedBy: OPTIONS,
  },
  {
    what: 'an image that asks for every GPU gets them on a host whose default runtime is that of NVIDIA',
    file: 'agent/engine/gpu.ts',
    from: 'return { DeviceRequests: [], env: NONE };',
    to: 'return { DeviceRequests: [], env: [] };',
    noticedBy: OPTIONS,
  },
  {
    what: 'a name that stands for root is taken for somebody harmless',
    file: 'agent/engine/user.ts',
    from: 'if (user.uid !== 0) return user;',
    to: 'if (user.uid !== 0 || imageUser) return user;',
    noticedBy: HARDENING,
  },
  {
    what: 'rules that somebody flushed are not made again',
    file: 'agent/engine/isolation.ts',
    from: 'this.#expected !== undefined && (await list()) === this.#expected',
    to: 'this.#expected !== undefined',
    noticedBy: HARDENING,
  },
  {
    what: 'a project mounts the volume of another',
    file: 'agent/engine/volumes.ts',
    from: '    [PROJECT]: projectId,\n',
    to: '',
    noticedBy: LIFECYCLE,
  },
  {
    what: 'a failed launch leaves its network: what is undone is only just being made',
    file: 'agent/engine/deadline.ts',
    from: '  await Promise.allSettled(work);\n',
    to: '',
    noticedBy: FAILURES,
  },
  {
    what: 'a receipt after an interrupted removal does not name what went before',
    file: 'agent/engine/remove.ts',
    from: 'workload && isSecond ? merge(',
    to: 'workload && !isSecond ? merge(',
    noticedBy: WATCH,
  },
  {
    what: 'a component is restarted without end',
    file: 'agent/engine/supervisor.ts',
    from: 'mayRestart = count < found.container.restarts;',
    to: 'mayRestart = true;',
    noticedBy: WATCH,
  },
  {
    what: 'a stopped workload is started again by the next run',
    file: 'agent/engine/converge.ts',
    from: "if (desired === 'present') {",
    to: "if (desired === 'present' || desired === 'stopped') {",
    noticedBy: WATCH,
  },
];
