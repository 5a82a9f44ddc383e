#include "exporter/this_server/vendors.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <jansson.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"

/* ---- responses ---- */

/* Copies a word of letters, digits, ".", "_" and "-". Returns false for other characters and for a
 * word that is too long. */
static bool take_word(struct slice s, char *out, size_t size)
{
	if (s.len == 0 || s.len >= size)
		return false;
	for (size_t i = 0; i < s.len; i++)
		if (!isalnum((unsigned char)s.data[i]) && !strchr("._-", s.data[i]))
			return false;
	slice_copy(s, out, size);
	return true;
}

/* Returns the part after the last slash, as in "projects/1/machineTypes/n2-standard-2". */
static struct slice last_part(struct slice s)
{
	const char *slash = memrchr(s.data, '/', s.len);

	return slash ? (struct slice){slash + 1, (size_t)(s.data + s.len - slash - 1)} : s;
}

static bool take_type(const char *body, size_t len, struct machine *m)
{
	return take_word(slice_trim((struct slice){body, len}), m->instance_type,
		sizeof m->instance_type);
}

static bool take_region(const char *body, size_t len, struct machine *m)
{
	return take_word(slice_trim((struct slice){body, len}), m->region, sizeof m->region);
}

static bool take_zone(const char *body, size_t len, struct machine *m)
{
	return take_word(slice_trim((struct slice){body, len}), m->zone, sizeof m->zone);
}

static json_t *parse_json(const char *body, size_t len)
{
	return json_loadb(body, len, 0, NULL);
}

static struct slice text_of(const json_t *object, const char *key)
{
	const char *s = json_string_value(json_object_get(object, key));

	return s ? (struct slice){s, strlen(s)} : (struct slice){0};
}

static void drop_json(json_t **o)
{
	json_decref(*o);
}

#define AUTO_JSON __attribute__((cleanup(drop_json))) json_t *

static bool take_aws_document(const char *body, size_t len, struct machine *m)
{
	AUTO_JSON o = parse_json(body, len);

	take_word(text_of(o, "availabilityZone"), m->zone, sizeof m->zone);
	return take_word(text_of(o, "instanceType"), m->instance_type, sizeof m->instance_type) &&
	       take_word(text_of(o, "region"), m->region, sizeof m->region);
}

static bool take_aws_life_cycle(const char *body, size_t len, struct machine *m)
{
	struct slice s = slice_trim((struct slice){body, len});

	if (slice_is(s, "spot"))
		m->allocation = MACHINE_SPOT;
	else if (slice_is(s, "on-demand"))
		m->allocation = MACHINE_ONDEMAND;
	return true;
}

static bool take_gcp_type(const char *body, size_t len, struct machine *m)
{
	struct slice s = slice_trim((struct slice){body, len});

	return slice_starts(s, "projects/") &&
	       take_word(last_part(s), m->instance_type, sizeof m->instance_type);
}

/* Reads the zone and its region, as in "projects/1/zones/us-central1-a". */
static bool take_gcp_zone(const char *body, size_t len, struct machine *m)
{
	struct slice zone = last_part(slice_trim((struct slice){body, len}));
	const char *dash = memrchr(zone.data, '-', zone.len);

	return dash && take_word(zone, m->zone, sizeof m->zone) &&
	       take_word((struct slice){zone.data, (size_t)(dash - zone.data)}, m->region,
		       sizeof m->region);
}

static bool take_gcp_preemptible(const char *body, size_t len, struct machine *m)
{
	struct slice s = slice_trim((struct slice){body, len});

	if (slice_is(s, "TRUE"))
		m->allocation = MACHINE_SPOT;
	else if (slice_is(s, "FALSE"))
		m->allocation = MACHINE_ONDEMAND;
	return true;
}

/* Parses Azure's answer. On-demand machines have the priority "" or "Regular". */
static bool take_azure(const char *body, size_t len, struct machine *m)
{
	AUTO_JSON o = parse_json(body, len);
	const char *priority = json_string_value(json_object_get(o, "priority"));

	if (priority && (strcmp(priority, "Spot") == 0 || strcmp(priority, "Low") == 0))
		m->allocation = MACHINE_SPOT;
	else if (priority && (strcmp(priority, "Regular") == 0 || !*priority))
		m->allocation = MACHINE_ONDEMAND;
	take_word(text_of(o, "zone"), m->zone, sizeof m->zone);
	return take_word(text_of(o, "vmSize"), m->instance_type, sizeof m->instance_type) &&
	       take_word(text_of(o, "location"), m->region, sizeof m->region);
}

/* Parses Hetzner's answer, which is lines of YAML. Its "availability-zone" is a data centre, and
 * its "region" is a group of data centres. Prices depend on the data centre, so m->region is set to
 * the data centre. The answer does not contain the instance type. */
static bool take_hetzner(const char *body, size_t len, struct machine *m)
{
	struct scan text = SCAN(body, len), line;
	bool instance = false;

	while (scan_line(&text, &line)) {
		bool zone = scan_literal(&line, "availability-zone:");

		instance = instance || scan_literal(&line, "instance-id:");
		if (zone && take_zone(line.at, (size_t)(line.end - line.at), m))
			text_copy(m->zone, m->region, sizeof m->region);
	}
	return instance && m->region[0];
}

static bool take_upcloud(const char *body, size_t len, struct machine *m)
{
	AUTO_JSON o = parse_json(body, len);

	return slice_is(text_of(o, "cloud_name"), "upcloud") &&
	       take_word(text_of(o, "region"), m->region, sizeof m->region);
}

/* Recognises OVH by the address of its name server, because the answers of other vendors with
 * OpenStack do not contain this address. */
static bool take_ovh_network(const char *body, size_t len, struct machine *m)
{
	AUTO_JSON o = parse_json(body, len);
	const json_t *services = json_object_get(o, "services");

	(void)m;
	for (size_t i = 0; i < json_array_size(services); i++)
		if (slice_is(text_of(json_array_get(services, i), "address"), "213.186.33.99"))
			return true;
	return false;
}

/* Reads the zone and its region. The name of a zone is the region and a letter: "eu-west-par-a". An
 * OpenStack without zones sends "nova", which is ignored. */
static bool take_ovh_zone(const char *body, size_t len, struct machine *m)
{
	AUTO_JSON o = parse_json(body, len);
	struct slice zone = text_of(o, "availability_zone");

	if (!zone.len || slice_is(zone, "nova") || !take_word(zone, m->zone, sizeof m->zone))
		return true;
	if (zone.len > 2 && zone.data[zone.len - 2] == '-')
		take_word((struct slice){zone.data, zone.len - 2}, m->region, sizeof m->region);
	return true;
}

static bool take_vultr(const char *body, size_t len, struct machine *m)
{
	AUTO_JSON o = parse_json(body, len);

	if (!text_of(o, "instanceid").len && !text_of(o, "instance-v2-id").len)
		return false;
	if (!take_word(text_of(json_object_get(o, "region"), "regioncode"), m->region,
		    sizeof m->region))
		return false;
	for (char *c = m->region; *c; c++) /* "EWR" here, "ewr" in Vultr's API */
		*c = (char)tolower((unsigned char)*c);
	return true;
}

/* ---- vendors ---- */

#define LINK_LOCAL "169.254.169.254"

/* clang-format off */
const struct cloud_vendor vendor_table[] = {
	{.vendor_id = "aws", .address = LINK_LOCAL, .marks = {"Amazon EC2"},
		.token_path = "/latest/api/token",
		.token_lifetime = "X-aws-ec2-metadata-token-ttl-seconds: 60",
		.token_header = "X-aws-ec2-metadata-token",
		.question = {
			{"/latest/dynamic/instance-identity/document", take_aws_document, false},
			{"/latest/meta-data/instance-life-cycle", take_aws_life_cycle, true}}},
	{.vendor_id = "gcp", .address = LINK_LOCAL, .marks = {"Google"},
		.header = "Metadata-Flavor: Google",
		.question = {
			{"/computeMetadata/v1/instance/machine-type", take_gcp_type, false},
			{"/computeMetadata/v1/instance/zone", take_gcp_zone, false},
			{"/computeMetadata/v1/instance/scheduling/preemptible", take_gcp_preemptible, true}}},
	/* Only the asset tag is specific to Azure. All other DMI texts are the same on every
	 * Hyper-V machine. */
	{.vendor_id = "azure", .address = LINK_LOCAL, .marks = {"7783-7084-3265-9085-8269-3286-77"},
		.header = "Metadata: true",
		.question = {{"/metadata/instance/compute?api-version=2021-02-01", take_azure, false}}},
	{.vendor_id = "hcloud", .address = LINK_LOCAL, .marks = {"Hetzner"},
		.question = {{"/hetzner/v1/metadata", take_hetzner, false}}},
	{.vendor_id = "upcloud", .address = LINK_LOCAL, .marks = {"UpCloud"},
		.question = {{"/metadata/v1.json", take_upcloud, false}}},
	{.vendor_id = "ovh", .address = LINK_LOCAL, .marks = {"OpenStack", "OVH"},
		.question = {
			{"/openstack/latest/network_data.json", take_ovh_network, false},
			{"/latest/meta-data/instance-type", take_type, true},
			{"/openstack/latest/meta_data.json", take_ovh_zone, true}}},
	{.vendor_id = "alicloud", .address = "100.100.100.200", .marks = {"Alibaba Cloud"},
		.token_path = "/latest/api/token",
		.token_lifetime = "X-aliyun-ecs-metadata-token-ttl-seconds: 60",
		.token_header = "X-aliyun-ecs-metadata-token",
		.question = {
			{"/latest/meta-data/instance/instance-type", take_type, false},
			{"/latest/meta-data/region-id", take_region, false},
			{"/latest/meta-data/zone-id", take_zone, true}}},
	{.vendor_id = "vultr", .address = LINK_LOCAL, .marks = {"Vultr"},
		.question = {{"/v1.json", take_vultr, false}}},
};
/* clang-format on */

const size_t vendor_count = ARRAY_LEN(vendor_table);

/* ---- DMI ---- */

/* Older AWS machines run on Xen. Only their BIOS version names Amazon: "4.11.amazon". */
static bool is_amazon_xen(const struct dmi *d)
{
	return strcmp(d->sys_vendor, "Xen") == 0 && strstr(d->bios_version, "amazon");
}

enum dmi_verdict vendor_judge_dmi(const struct dmi *d, const struct cloud_vendor *v)
{
	const char *texts[] = {d->sys_vendor, d->product_name, d->bios_vendor, d->bios_version,
		d->chassis_asset_tag};
	bool silent = true;

	if (strcmp(v->vendor_id, "aws") == 0 && is_amazon_xen(d))
		return DMI_MATCHES;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		silent = silent && !texts[i][0];
		for (size_t k = 0; k < CLOUD_MARKS_MAX && v->marks[k]; k++)
			if (strncmp(texts[i], v->marks[k], strlen(v->marks[k])) == 0)
				return DMI_MATCHES;
	}
	return silent ? DMI_SILENT : DMI_RULES_OUT;
}

void vendor_by_dmi(const struct dmi *d, struct machine *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(vendor_table); i++) {
		const struct cloud_vendor *v = &vendor_table[i];

		/* Skip OVH, because its mark "OpenStack" also fits other vendors. */
		if (strcmp(v->vendor_id, "ovh") == 0 || vendor_judge_dmi(d, v) != DMI_MATCHES)
			continue;
		text_copy(v->vendor_id, ret->vendor_id, sizeof ret->vendor_id);
		text_copy("dmi", ret->source, sizeof ret->source);
	}
	/* On AWS the product name is the instance type: "m7i.large". */
	if (strcmp(d->sys_vendor, "Amazon EC2") == 0 && strchr(d->product_name, '.'))
		take_type(d->product_name, strlen(d->product_name), ret);
}
