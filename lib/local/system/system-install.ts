const POLICY_MARK = 'gpuaas: no service starts while its package is being installed';
/** What the packages would start, now and at every boot from then on. */
const SERVICES = 'docker.service docker.socket containerd.service docker-registry.service nftables.service';

export interface InstallPaths {
  logFile: string;
  policyFile?: string;
  unitsDir?: string;
  /** Holds the links that make services start at boot. */
  bootDir?: string;
}

/**
 * A shell script, run as root, that installs Debian packages one by one: one that can't be had doesn't keep
 * the others away. Each line of its output is progress; what apt says goes to the log.
 *
 * The packages bring services, among them a registry that listens to the world. We want the programs alone:
 * `policy-rc.d` keeps apt from starting the services, and disabling them keeps the next boot from it. Services
 * that were there before, and a policy of the machine's own, stay as they are; a policy that we left behind
 * when we were killed is known by its mark.
 */
export function installScript(packages: string[], paths: InstallPaths): string {
  const { logFile, policyFile = '/usr/sbin/policy-rc.d' } = paths;
  const { unitsDir = '/lib/systemd/system', bootDir = '/etc/systemd/system' } = paths;
  return `
set -u
export DEBIAN_FRONTEND=noninteractive
log='${logFile}'
policy='${policyFile}'
units='${unitsDir}'
boot='${bootDir}'
: > "$log" || exit 1

if [ ! -e "$policy" ] || grep -q '${POLICY_MARK}' "$policy"; then
  trap 'rm -f "$policy"' EXIT
  trap 'exit 1' INT TERM HUP
  printf '#!/bin/sh\\n# ${POLICY_MARK}\\nexit 101\\n' > "$policy"
  chmod 755 "$policy"
fi
unwanted=''
for service in ${SERVICES}; do
  [ -e "$units/$service" ] || unwanted="$unwanted $service"
done

apt() {
  apt-get -o DPkg::Lock::Timeout=300 -o Dpkg::Options::=--force-confold "$@" >> "$log" 2>&1 < /dev/null
}
echo 'reading the package lists'
apt update || echo 'the package lists could not be read; trying with those at hand'
for package in ${packages.join(' ')}; do
  # Some releases have another Java and not this one, or the docker command in the package of the engine.
  if ! apt-cache show "$package" > /dev/null 2>&1; then
    case "$package" in
      openjdk-17-jre-headless) package=default-jre-headless ;;
      docker-cli) package=docker.io ;;
    esac
  fi
  echo "installing $package"
  apt install -y --no-install-recommends --no-remove "$package" || echo "$package could not be installed"
done

# As \`systemctl disable\` does, but also where systemd is not installed yet.
for service in $unwanted; do
  rm -f "$boot"/*.wants/"$service"
done
`;
}
