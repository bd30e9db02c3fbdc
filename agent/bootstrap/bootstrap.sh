#!/bin/sh
# Makes this machine a host of the platform at @PLATFORM_URL@.
#
#   curl -fsSL @PLATFORM_URL@/api/v1/agent/bootstrap.sh | sudo GPUAAS_JOIN_TOKEN=<token> sh -s -- --node <node id>
#
# It installs what is missing (Docker with Compose, nftables, Node and, where there is an NVIDIA GPU, NVIDIA's container
# toolkit), downloads the agent, joins and starts it. What is there already is left as it is, so it can be run again.
#
#   --node <id>          the node this machine becomes
#   --join-token <token> once given by the platform; better in GPUAAS_JOIN_TOKEN, or in the file GPUAAS_JOIN_TOKEN_FILE,
#                        where other users of this machine cannot read it
#   --state-dir <folder> where the agent keeps its key and its journal (default /var/lib/gpuaas-agent)
#   --no-install         do with what is there: no package is installed, no service of others is started
#   --no-start           join, and leave it to somebody else to start the agent
#   --dry-run            say what would be done, and do none of it

set -eu

# The lowest that has what the agent uses, and what is downloaded where there is none.
NODE_MAJOR_MIN=24
NODE_DIST="${GPUAAS_NODE_DIST:-https://nodejs.org/dist/latest-v24.x}"
# 1.17.8 is the first without CVE-2024-0132, CVE-2025-23266 and CVE-2025-23267.
TOOLKIT_MIN=1.17.8
SERVICE=/etc/systemd/system/gpuaas-agent.service
DOCKER_SETTINGS="${GPUAAS_DOCKER_SETTINGS:-/etc/docker/daemon.json}"

say() { printf 'gpuaas: %s\n' "$1"; }
fail() { printf 'gpuaas: %s\n' "$1" >&2; exit 1; }
has() { command -v "$1" > /dev/null 2>&1; }

# What changes something on this machine goes through here.
change() {
  if [ "$dry" = yes ]; then say "would: $*"; else "$@"; fi
}

# Everything is in functions, and the last line calls the first: a download that broke off does nothing.
main() {
  platform='@PLATFORM_URL@'
  node_id='' join_token="${GPUAAS_JOIN_TOKEN:-}" state=/var/lib/gpuaas-agent install=yes start=yes dry=no
  while [ $# -gt 0 ]; do
    case "$1" in
      --node) node_id="${2:?--node needs an id}"; shift 2 ;;
      --join-token) join_token="${2:?--join-token needs a token}"; shift 2 ;;
      --state-dir) state="${2:?--state-dir needs a folder}"; shift 2 ;;
      --no-install) install=no; shift ;;
      --no-start) start=no; shift ;;
      --dry-run) dry=yes; shift ;;
      *) fail "unknown option $1" ;;
    esac
  done
  if [ -z "$join_token" ] && [ -n "${GPUAAS_JOIN_TOKEN_FILE:-}" ]; then
    join_token="$(cat "$GPUAAS_JOIN_TOKEN_FILE")"
  fi
  [ -n "$node_id" ] || fail 'which node? Give --node <id>.'
  [ "$dry" = yes ] || [ "$(id -u)" = 0 ] || fail 'root is needed: start it with sudo.'
  [ "$(uname -s)" = Linux ] || fail 'a host runs Linux.'

  node="$(find_node)"
  if [ "$install" = yes ]; then
    # Before the engine is there: it starts as soon as it is installed.
    has dockerd || [ -e "$DOCKER_SETTINGS" ] || change write_docker_settings
    install_packages
    start_docker
    install_gpu_toolkit
    [ -n "$node" ] || [ "$dry" = yes ] || install_node
  fi
  if [ "$dry" = yes ]; then
    plan
    return 0
  fi
  [ -n "$node" ] || fail "Node $NODE_MAJOR_MIN or newer is missing."
  download_agent
  join
  start_agent
}

# What comes after the packages, each only if it is still to be done.
plan() {
  [ -n "$node" ] || say "would: install Node $NODE_MAJOR_MIN in /opt/gpuaas/node"
  [ -e "$state/current/gpuaas-agent.mjs" ] || say "would: download the agent from $platform to $state"
  [ -e "$state/config.json" ] || say "would: join $platform as the node $node_id"
  if [ "$start" = yes ]; then say "would: write $SERVICE and start the agent"; fi
}

install_packages() {
  wanted=''
  has curl || wanted="$wanted curl ca-certificates"
  has nft || wanted="$wanted nftables"
  has ip || wanted="$wanted iproute2"
  has dockerd || wanted="$wanted docker-engine"
  docker compose version > /dev/null 2>&1 || has docker-compose || wanted="$wanted docker-compose"
  [ -n "$wanted" ] || return 0
  if has apt-get; then
    export DEBIAN_FRONTEND=noninteractive
    change apt-get -o DPkg::Lock::Timeout=300 update -q
    for package in $wanted; do install_by_apt "$package"; done
  elif has dnf; then
    for package in $wanted; do install_by_dnf "$package"; done
  else
    fail "there is neither apt-get nor dnf. Install$wanted, then run this again."
  fi
}

install_by_apt() {
  say "installing $1"
  # Debian's names, then those of Docker's own packages, for machines that have its repository.
  case "$1" in
    docker-engine) set -- docker.io docker-ce ;;
    docker-compose) set -- docker-compose-v2 docker-compose-plugin docker-compose ;;
  esac
  for name in "$@"; do
    apt-cache show "$name" > /dev/null 2>&1 || continue
    change apt-get -o DPkg::Lock::Timeout=300 install -y -q --no-install-recommends "$name" && return 0
  done
  optional "$1"
}

install_by_dnf() {
  say "installing $1"
  case "$1" in
    docker-engine) set -- moby-engine docker-ce ;;
    docker-compose) set -- docker-compose docker-compose-plugin ;;
    iproute2) set -- iproute ;;
  esac
  for name in "$@"; do
    change dnf install -y -q "$name" && return 0
  done
  optional "$1"
}

# Only for people to look at projects: the agent speaks to the engine itself, with the labels of Compose.
optional() {
  case "$1" in
    docker-compose*) say 'Compose could not be installed; the agent does without it.' ;;
    *) fail "$1 could not be installed." ;;
  esac
}

# Docker's own pools end after some thirty networks, and every workload has a network of its own.
write_docker_settings() {
  mkdir -p "$(dirname "$DOCKER_SETTINGS")"
  printf '{ "default-address-pools": [{ "base": "10.216.0.0/14", "size": 26 }] }\n' > "$DOCKER_SETTINGS"
}

has_systemd() { [ -d /run/systemd/system ]; }

start_docker() {
  if has_systemd && ! systemctl is-active -q docker; then change systemctl enable -q --now docker; fi
}

install_gpu_toolkit() {
  grep -qsi '^0x10de$' /sys/bus/pci/devices/*/vendor 2> /dev/null || return 0
  has nvidia-smi || say 'there is an NVIDIA GPU and no driver: install it, or the GPU cannot be used.'
  if ! is_toolkit_current; then
    say 'installing the NVIDIA container toolkit'
    if has apt-get; then change add_nvidia_apt; else change add_nvidia_dnf; fi
    [ "$dry" = yes ] || is_toolkit_current || fail "the NVIDIA container toolkit must be at least $TOOLKIT_MIN: older ones let containers out."
  fi
  # Restarting the engine ends what runs, so only where it does not know the toolkit yet.
  if ! docker info --format '{{json .Runtimes}}' 2> /dev/null | grep -q '"nvidia"'; then
    change nvidia-ctk runtime configure --runtime=docker
    if has_systemd; then change systemctl restart docker; fi
  fi
}

is_toolkit_current() {
  has nvidia-ctk || return 1
  found="$(nvidia-ctk --version | sed -n 's/.*version \([0-9.]*\).*/\1/p' | head -n 1)"
  [ "$(printf '%s\n' "$TOOLKIT_MIN" "$found" | sort -V | head -n 1)" = "$TOOLKIT_MIN" ]
}

NVIDIA=https://nvidia.github.io/libnvidia-container

add_nvidia_apt() {
  keyring=/usr/share/keyrings/nvidia-container-toolkit-keyring.asc
  curl -fsSL "$NVIDIA/gpgkey" -o "$keyring"
  printf 'deb [signed-by=%s] %s/stable/deb/$(ARCH) /\n' "$keyring" "$NVIDIA" \
    > /etc/apt/sources.list.d/nvidia-container-toolkit.list
  apt-get -o DPkg::Lock::Timeout=300 update -q
  apt-get -o DPkg::Lock::Timeout=300 install -y -q --no-install-recommends nvidia-container-toolkit
}

add_nvidia_dnf() {
  curl -fsSL "$NVIDIA/stable/rpm/nvidia-container-toolkit.repo" -o /etc/yum.repos.d/nvidia-container-toolkit.repo
  dnf install -y -q nvidia-container-toolkit
}

# Prints its path, or nothing.
find_node() {
  for candidate in "${GPUAAS_NODE:-}" "$(command -v node || true)" /opt/gpuaas/node/bin/node; do
    [ -x "$candidate" ] || continue
    major="$("$candidate" -p 'process.versions.node.split(".")[0]' 2> /dev/null || echo 0)"
    if [ "$major" -ge "$NODE_MAJOR_MIN" ]; then
      printf '%s\n' "$candidate"
      return 0
    fi
  done
}

install_node() {
  case "$(uname -m)" in
    x86_64) arch=x64 ;;
    aarch64) arch=arm64 ;;
    *) fail "there is no Node for $(uname -m)." ;;
  esac
  work="$(mktemp -d)"
  curl -fsSL "$NODE_DIST/SHASUMS256.txt" -o "$work/SHASUMS256.txt"
  archive="$(sed -n "s/^[0-9a-f]*  \(node-v[0-9.]*-linux-$arch\.tar\.gz\)$/\1/p" "$work/SHASUMS256.txt")"
  [ -n "$archive" ] || fail "$NODE_DIST has no Node for $arch."
  say "installing $archive in /opt/gpuaas/node"
  curl -fsSL "$NODE_DIST/$archive" -o "$work/$archive"
  (cd "$work" && grep " $archive\$" SHASUMS256.txt | sha256sum -c --quiet -) || fail "$archive is not what it should be."
  mkdir -p /opt/gpuaas/node
  tar -xzf "$work/$archive" -C /opt/gpuaas/node --strip-components=1
  rm -rf "$work"
  node="$(find_node)"
  [ -n "$node" ] || fail 'the Node that was installed does not run here.'
}

# Checks the agent against the platform's release. Whether the release is the platform's, the agent checks itself from
# the first update on: it learns the platform's key when it joins. Where there is an agent, updates are its own matter.
download_agent() {
  program="$state/current/gpuaas-agent.mjs"
  [ ! -e "$program" ] || return 0
  work="$(mktemp -d)"
  curl -fsSL "$platform/api/v1/agent/release" -o "$work/release.json"
  curl -fsSL "$platform/api/v1/agent/bundle.mjs" -o "$work/gpuaas-agent.mjs"
  version="$("$node" -e '
    const { readFileSync } = require("node:fs");
    const { createHash } = require("node:crypto");
    const [release, bundle] = process.argv.slice(1).map((file) => readFileSync(file));
    const [, payload] = JSON.parse(release).document.split(".");
    const { version, digest } = JSON.parse(Buffer.from(payload, "base64url"));
    if (digest !== `sha256:${createHash("sha256").update(bundle).digest("hex")}`) process.exit(1);
    process.stdout.write(version);
  ' "$work/release.json" "$work/gpuaas-agent.mjs")" || fail 'the agent that was downloaded is not the one released.'
  mkdir -p "$state/releases/$version"
  chmod 700 "$state" "$state/releases" "$state/releases/$version"
  mv "$work/gpuaas-agent.mjs" "$state/releases/$version/gpuaas-agent.mjs"
  # The launcher goes back to the release before when a new one fails, so it is not itself one that is updated.
  cp "$state/releases/$version/gpuaas-agent.mjs" "$state/launcher.mjs"
  ln -sfn "releases/$version" "$state/current"
  rm -rf "$work"
  say "agent $version is in $state"
}

join() {
  if [ -e "$state/config.json" ]; then
    say "this machine has joined already; its state is in $state"
    return 0
  fi
  [ -n "$join_token" ] || fail 'which join token? Set GPUAAS_JOIN_TOKEN or GPUAAS_JOIN_TOKEN_FILE.'
  # By the environment: what stands on a command line, everybody on this machine can read.
  GPUAAS_JOIN_TOKEN="$join_token" "$node" "$program" join --state-dir "$state" --url "$platform" --node "$node_id" \
    --docker-socket "${GPUAAS_AGENT_DOCKER_SOCKET:-/var/run/docker.sock}"
}

start_agent() {
  command="$node --disable-warning=ExperimentalWarning $state/launcher.mjs launch --state-dir $state"
  if [ "$start" = no ]; then
    say "joined. Start the agent with: $command"
  elif has_systemd; then
    write_service "$command"
    systemctl daemon-reload
    systemctl enable -q gpuaas-agent
    systemctl restart gpuaas-agent
    say 'the agent runs. Look at it with: systemctl status gpuaas-agent, journalctl -u gpuaas-agent'
  else
    say "there is no systemd here. Have the agent started at each boot with: $command"
  fi
}

write_service() {
  cat > "$SERVICE" << EOF
[Unit]
Description=Agent of the GPUaaS App Platform
After=network-online.target docker.service
Wants=network-online.target docker.service

[Service]
ExecStart=$1
Restart=always
RestartSec=2
# It is configured wrongly, or another has spoken with this node's key: starting it again does not help.
RestartPreventExitStatus=2
# Containers are not among its processes: they outlive it, and it takes them up again.
KillMode=mixed
TimeoutStopSec=30
UMask=0077
NoNewPrivileges=yes
ProtectHome=no
PrivateTmp=yes

[Install]
WantedBy=multi-user.target
EOF
}

main "$@"
