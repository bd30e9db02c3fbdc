// Others on the network, and taking more of the host than was given.

import type { Control, Probe } from './probe.ts';

const probe = (name: string, control: Control, script: string): Probe => ({ name, control, script });
const get = (address: string): string => `timeout 2 wget -q -O - http://${address}/ | grep -q .`;

export const NETWORK_PROBES: Probe[] = [
  probe('read the metadata of the machine', 'plain', get('169.254.169.254:$SERVICE')),
  probe('read the metadata of the machine by another spelling', 'plain', get('2852039166:$SERVICE')),
  probe('read metadata that lies behind a router', 'routed', get('$ROUTED_METADATA:8080')),
  probe('reach a service of the host at the gateway', 'plain', get('$GATEWAY:$SERVICE')),
  probe('reach a service of the host at another address', 'plain', get('$HOST_ADDRESS:$SERVICE')),
  probe('reach a service that is only for the host', 'open', get('127.0.0.1:$LOCAL_SERVICE')),
  probe('reach a port of another workload by its address', 'routed', get('$OTHER_ADDRESS:8080')),
  probe('reach a port of another workload by its name', 'neighbour', get('vault:8080')),
  probe(
    'reach a published port of another workload',
    'open',
    `${get('127.0.0.1:$PUBLISHED')} || ${get('$GATEWAY:$PUBLISHED')}`,
  ),
];

/** Each leaves its container in disorder, so they come last. */
export const LIMIT_PROBES: Probe[] = [
  probe(
    'use every processor',
    'plain',
    'cat /sys/fs/cgroup/cpu/cpu.cfs_quota_us /sys/fs/cgroup/cpu.max 2> /dev/null | grep -Eq "^(-1|max)"',
  ),
  probe('write a core', 'plain', 'test "$(ulimit -H -c)" = unlimited'),
  probe(
    'fill shared memory',
    'plain',
    'dd if=/dev/zero of=/dev/shm/fill bs=1M count=100; status=$?; rm -f /dev/shm/fill; test $status = 0',
  ),
  probe(
    'fill the folder for temporary files',
    'plain',
    'dd if=/dev/zero of=/tmp/fill bs=1M count=100; status=$?; rm -f /tmp/fill; test $status = 0',
  ),
  probe(
    'fill the folder for what runs',
    'plain',
    'mkdir -p /run; dd if=/dev/zero of=/run/fill bs=1M count=100; status=$?; rm -f /run/fill; test $status = 0',
  ),
  probe('take much memory', 'plain', 'dd if=/dev/zero of=/dev/null bs=200M count=1'),
  probe(
    'keep many files in memory',
    'plain',
    'mkdir -p /dev/shm/x; for i in 1 2 3; do dd if=/dev/zero of=/dev/shm/x/$i bs=1M count=20 || exit 1; done',
  ),
  probe(
    'start many processes',
    'plain',
    'for i in $(seq 200); do sleep 3 & done; test "$(ls -d /proc/[0-9]* | wc -l)" -gt 200',
  ),
];
