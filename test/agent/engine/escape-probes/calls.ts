// Calls to the kernel that give power over the host, made directly. None of them changes anything where it succeeds: the
// arguments are such that the kernel refuses them right after it has looked whether the caller may.

import type { Control, Probe } from './probe.ts';
import { syscallProgram } from './syscall-program.ts';

const ENOENT = 2;
const ENOEXEC = 8;
const EFAULT = 14;
const EINVAL = 22;

type Call = [
  name: string,
  file: string,
  program: Buffer,
  /** What the kernel answers to those who may, if not 0. */
  answer?: number,
  control?: Control,
];

const NAMESPACES: [string, number][] = [
  ['mount', 0x2_0000],
  ['cgroup', 0x200_0000],
  ['uts', 0x400_0000],
  ['ipc', 0x800_0000],
  ['user', 0x1000_0000],
  ['pid', 0x2000_0000],
  ['net', 0x4000_0000],
];
const SIGCHLD = 17;

/** An array of one number: the smallest map. */
const BPF_MAP = Buffer.concat([
  Buffer.from([2, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0]),
  Buffer.alloc(56),
]);
/** The time that passed on all processors, in the kernel too. */
const PERF_EVENT = Buffer.concat([Buffer.from([1, 0, 0, 0, 112, 0, 0, 0]), Buffer.alloc(104)]);
const FIFO_PRIORITY = Buffer.from([1, 0, 0, 0]);

const CALLS: Call[] = [
  ['become root', 'setuid', syscallProgram(105, 0), 0, 'plain'],
  ['join the group of root', 'setgid', syscallProgram(106, 0), 0, 'plain'],
  ['leave all groups', 'setgroups', syscallProgram(116, 0, 0), 0, 'plain'],
  ['open a raw socket', 'raw', syscallProgram(41, 2, 3, 1), 0, 'plain'],
  ['open a packet socket', 'packet', syscallProgram(41, 17, 3, 768), 0, 'plain'],
  ['restart the machine', 'reboot', syscallProgram(169, 0, 0, 0, 0), EINVAL],
  ['load another kernel', 'kexec', syscallProgram(246, 0, 0, 0, 0)],
  ['load a module', 'module', syscallProgram(175, 'no module', 9, ''), ENOEXEC],
  ['add swap', 'swapon', syscallProgram(167, '/nothing', 0), ENOENT],
  ['account processes', 'acct', syscallProgram(163, 0)],
  ['read the kernel log', 'syslog', syscallProgram(103, 10, 0, 0)],
  ['use the ports of devices', 'iopl', syscallProgram(172, 3)],
  ['name the domain', 'setdomainname', syscallProgram(171, 0, 0)],
  ['change the root of all', 'pivot-root', syscallProgram(155, 0, 0), EFAULT],
  ['open a file system', 'fsopen', syscallProgram(430, 'tmpfs', 0)],
  ['copy a tree of mounts', 'open-tree', syscallProgram(428, -100, '/', 1)],
  ['move a mount', 'move-mount', syscallProgram(429, -1, 0, -1, 0, 0), EFAULT],
  ['open files by handle', 'by-handle', syscallProgram(304, -100, 0, 0), EFAULT],
  ['load a program into the kernel', 'bpf', syscallProgram(321, 0, BPF_MAP, 72)],
  ['measure the whole machine', 'perf', syscallProgram(298, PERF_EVENT, -1, 0, -1, 0)],
  ['handle page faults of the kernel', 'userfaultfd', syscallProgram(323, 0)],
  ['read the keyring', 'keyctl', syscallProgram(250, 0, -3, 1)],
  ['add a key', 'add-key', syscallProgram(248, 'user', 'probe', 'value', 5, -2)],
  ['go before all others', 'setpriority', syscallProgram(141, 0, 0, -5)],
  ['run in real time', 'fifo', syscallProgram(144, 0, 1, FIFO_PRIORITY)],
  ['pin memory of NUMA nodes', 'mbind', syscallProgram(256, 0, 0, 0, 0), EINVAL],
  ...NAMESPACES.map(([kind, flag]): Call => [
    `leave for a new ${kind} namespace`,
    `unshare-${kind}`,
    syscallProgram(272, flag),
  ]),
  [
    'have a child in a new user namespace',
    'clone-user',
    syscallProgram(56, 0x1000_0000 + SIGCHLD, 0, 0, 0, 0),
  ],
];

/** What the engine's own profile of calls refuses from version 25 on; earlier ones let it through. */
const LATER_CALLS: Call[] = [
  ['speak to the hypervisor by a vsock', 'vsock', syscallProgram(41, 40, 1, 0)],
  ['submit work to the kernel by a ring', 'io-uring', syscallProgram(425, 1, Buffer.alloc(120))],
];

const probeOf = ([name, file, , answer = 0, control = 'open']: Call): Probe => ({
  name,
  control,
  script: `/data/${file}; test $? = ${answer}`,
});

export const CALL_PROBES: Probe[] = CALLS.map(probeOf);
export const LATER_CALL_PROBES: Probe[] = LATER_CALLS.map(probeOf);

/** By the name of the file. */
export const PROGRAMS = new Map([...CALLS, ...LATER_CALLS].map(([, file, program]) => [file, program]));
