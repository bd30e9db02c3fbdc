// Powers, mounts, devices, the kernel's files and the host's, with what a shell has.

import type { Control, Probe } from './probe.ts';

const probe = (name: string, control: Control, script: string): Probe => ({ name, control, script });

/** Writes back what it reads: succeeding changes nothing. */
const writeBack = (path: string): string => `value=$(cat ${path}) && printf %s "$value" > ${path}`;

const isHost = (kind: string): Probe =>
  probe(
    `be in the ${kind} namespace of the host`,
    'open',
    `test "$(readlink /proc/self/ns/${kind})" = "$HOST_${kind.toUpperCase()}"`,
  );

const has = (field: string, value: string): string =>
  `grep -q '^${field}:[[:space:]]*${value}$' /proc/self/status`;

const POWERS: Probe[] = [
  probe('be root', 'plain', 'test "$(id -u)" = 0'),
  probe('have a power', 'plain', `! ${has('CapEff', '0*')}`),
  probe('get a power by running a file that has it', 'plain', `! ${has('CapBnd', '0*')}`),
  probe('get powers by a file that is run as its owner', 'user', '/data/setuid-root'),
  probe('not be kept from new powers', 'user', has('NoNewPrivs', '0')),
  probe('make every call there is', 'open', has('Seccomp', '0')),
  probe('give a file to somebody else', 'plain', 'touch /tmp/chown && chown 1:1 /tmp/chown'),
  probe(
    'make a file run as root',
    'plain',
    'cp /bin/busybox /tmp/suid && chown 0:0 /tmp/suid && chmod 4755 /tmp/suid',
  ),
  probe('make a device', 'plain', 'mknod /tmp/null c 1 3'),
  probe('make the disk of the host', 'plain', 'mknod /tmp/disk b $DISK'),
  probe('read what is only for root', 'plain', 'cat /data/only-root'),
  probe('write what belongs to root', 'plain', 'touch /data/only-root'),
  probe('change its root', 'plain', 'chroot / true'),
  probe('name the host', 'open', 'hostname "$(hostname)"'),
  probe(
    'set the clock',
    'open',
    'adjtimex -f "$(adjtimex | sed -n "s/.*freq.adjust: *\\([-0-9]*\\).*/\\1/p")"',
  ),
  probe(
    'give itself an address',
    'open',
    'ip address add 198.51.100.7/32 dev lo && ip address delete 198.51.100.7/32 dev lo',
  ),
  probe(
    'make a route',
    'open',
    'ip route add 198.51.100.8/32 dev lo && ip route delete 198.51.100.8/32 dev lo',
  ),
  probe('make an interface', 'open', 'ip link add probe0 type bridge && ip link delete probe0'),
  ...['pid', 'ipc', 'uts', 'net', 'cgroup'].map(isHost),
  probe('see a process of the host', 'open', 'grep -q "$HOST_PROCESS" /proc/$HOST_PROCESS_ID/cmdline'),
  probe(
    'end a process of the host',
    'open',
    'kill -0 $HOST_PROCESS_ID && grep -q "$HOST_PROCESS" /proc/$HOST_PROCESS_ID/cmdline',
  ),
  probe(
    'read the environment of a process of the host',
    'open',
    'grep -q "$MARKER" /proc/$HOST_PROCESS_ID/environ',
  ),
  probe('enter a namespace of the host', 'open', 'nsenter -t $HOST_PROCESS_ID -m -- test -e "$HOST_FILE"'),
  probe(
    'get at the files of the host through a process',
    'open',
    'test -e "/proc/$HOST_PROCESS_ID/root$HOST_FILE"',
  ),
];

const MOUNTS: Probe[] = [
  probe('mount memory', 'open', 'mkdir -p /tmp/m && mount -t tmpfs none /tmp/m && umount /tmp/m'),
  probe('mount processes', 'open', 'mkdir -p /tmp/m && mount -t proc none /tmp/m && umount /tmp/m'),
  probe('mount the kernel', 'open', 'mkdir -p /tmp/m && mount -t sysfs none /tmp/m && umount /tmp/m'),
  probe(
    'mount one folder at another',
    'open',
    'mkdir -p /tmp/m && mount -o bind /bin /tmp/m && umount /tmp/m',
  ),
  probe(
    'mount the disk of the host',
    'open',
    'mkdir -p /tmp/m && mknod /tmp/d b $DISK && mount -t ext4 /tmp/d /tmp/m && umount /tmp/m',
  ),
  probe('mount the root anew', 'open', 'mount -o remount,rw /'),
  probe('mount the volume of the project anew', 'open', 'mount -o remount,bind,rw /data'),
  probe('take a mount away', 'open', 'umount /etc/hosts'),
  probe('write to the root', 'plain', 'echo x > /bin/probe'),
  probe('replace a program', 'plain', 'cp /bin/busybox /bin/other && mv /bin/other /bin/busybox'),
  probe('write where hosts are named', 'plain', 'echo 198.51.100.9 probe >> /etc/hosts'),
  probe('write where resolvers are named', 'plain', 'echo "# probe" >> /etc/resolv.conf'),
  probe(
    'write to a folder of the kernel',
    'open',
    `for file in /sys/block/*/queue/read_ahead_kb; do ${writeBack('$file')} && exit; done; exit 1`,
  ),
  probe('have the kernel run a program for a device', 'open', writeBack('/sys/kernel/uevent_helper')),
  probe(
    'make a group of processes',
    'open',
    'folder=/sys/fs/cgroup; test -d $folder/memory && folder=$folder/memory; mkdir $folder/probe && rmdir $folder/probe',
  ),
  probe(
    'have the kernel run a program when a group ends',
    'open',
    writeBack('/sys/fs/cgroup/memory/release_agent'),
  ),
  probe('speak to the container engine', 'open', 'test -S /var/run/docker.sock || test -S "$ENGINE"'),
  probe(
    'see a file of the host',
    'open',
    'find / -xdev -name "$MARKER*" 2> /dev/null | grep -q . || test -e "$HOST_FILE"',
  ),
  probe('see a secret of another workload', 'open', 'grep -rqs "$SECRET" /run/secrets "$SECRETS"'),
  probe('see the volume of another project', 'open', 'grep -rqs "$SECRET" /workspace "$VOLUMES"'),
  probe('see a secret of the agent in the environment', 'open', 'env | grep -q "$AGENT_SECRET"'),
];

const KERNEL_FILES: Probe[] = [
  ...[
    'sys/kernel/core_pattern',
    'sys/kernel/modprobe',
    'sys/kernel/panic',
    'sys/vm/overcommit_memory',
    'sys/net/ipv4/ip_forward',
    'sys/kernel/hostname',
    'sys/kernel/shmmax',
  ].map((path) => probe(`write /proc/${path}`, 'open', writeBack(`/proc/${path}`))),
  probe('press the magic key', 'open', 'echo h > /proc/sysrq-trigger'),
  probe('steer interrupts', 'open', writeBack('/proc/irq/default_smp_affinity')),
  probe('spare itself from being killed', 'open', 'echo -500 > /proc/self/oom_score_adj'),
  ...['kcore', 'kmsg', 'timer_list', 'keys'].map((path) =>
    probe(`read /proc/${path}`, 'open', `timeout 1 head -c 16 /proc/${path} | grep -q .`),
  ),
  probe('look into /sys/firmware', 'open', 'ls /sys/firmware | grep -q .'),
];

/** As they are called on every host, or on hosts like ours. */
const DEVICES: Probe[] = [
  'mem',
  'kmsg',
  'kvm',
  'fuse',
  'loop-control',
  'net/tun',
  'console',
  'hwrng',
  'vsock',
].map((device) => probe(`open /dev/${device}`, 'open', `test -e /dev/${device} && : < /dev/${device}`));

export const FILE_PROBES: Probe[] = [...POWERS, ...MOUNTS, ...KERNEL_FILES, ...DEVICES];
