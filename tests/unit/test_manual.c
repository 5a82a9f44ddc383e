/* exporter/cli/manual.c: the man page and the bash completion contain everything in the tables. */
#include "tests/unit/test_main.h"

#include <stdio.h>
#include <string.h>

#include "collectors/collector.h"
#include "exporter/cli/completion.h"
#include "exporter/cli/help.h"
#include "exporter/cli/manual.h"
#include "exporter/api/route.h"
#include "exporter/core/json_key.h"

__attribute__((format(printf, 2, 3))) static void holds(const struct buf *page, const char *format,
	...)
{
	char text[256];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof text, format, list);
	va_end(list);
	if (!strstr(buf_text(page), text))
		fail_msg("\"%s\" is not in it", text);
}

/* Returns the text as roff writes it, with hyphens that can be copied. */
static const char *escaped(const char *text, char out[256])
{
	size_t n = 0;

	for (; *text && n < 253; text++) {
		if (*text == '-')
			out[n++] = '\\';
		out[n++] = *text;
	}
	out[n] = '\0';
	return out;
}

/* Like escaped(), for the name of an option as a flag, which has hyphens in place of
 * underscores. */
static const char *escaped_flag(const char *name, char out[256])
{
	char flag[256];
	size_t n = 0;

	for (; *name && n < sizeof flag - 1; name++)
		flag[n++] = *name == '_' ? '-' : *name;
	flag[n] = '\0';
	return escaped(flag, out);
}

static void man_page_has_every_command_option_and_parameter(void **state)
{
	AUTO(buf_done) struct buf page = BUF_MAX(1 << 20);
	struct option_view o;
	char text[256];

	manual_man(&page);
	assert_false(page.full);
	for (const struct help_command *c = help_commands; c->word; c++)
		holds(&page, ".TP\n\\fB%s\\fR%s", escaped(c->word, text), "\n");
	for (size_t i = 0; option_at(i, &o); i++)
		holds(&page, ".TP\n\\fB\\-\\-%s\\fR%s", escaped_flag(o.name, text),
			o.placeholder ? "=\\fI" : "\n");
	for (size_t i = 0; all_routes[i]; i++) {
		if (!all_routes[i]->command)
			continue;
		holds(&page, ".SS %s%s", all_routes[i]->command, "\n");
		for (const struct parameter *p = all_routes[i]->parameters; p->name; p++)
			holds(&page, "\\fB\\-\\-%s\\fR=\\fI%s", escaped_flag(p->name, text),
				"VALUE");
	}
	for (size_t i = 0; all_collectors[i]; i++)
		holds(&page, "collector.%s\\fR%s", all_collectors[i]->name, "\n");
}

static void holds_keys(const struct buf *page, const struct json_key *keys, const char *parent)
{
	for (const struct json_key *k = keys; k->name; k++) {
		AUTO(buf_done) struct buf path = BUF_MAX(256);

		buf_addf(&path, "%s%s", parent, k->name);
		holds(page, ".TP\n\\fB%s\\fR\n", buf_text(&path));
		buf_addc(&path, '.');
		if (k->members)
			holds_keys(page, k->members, buf_text(&path));
	}
}

static void the_page_of_the_routes_has_every_parameter_key_and_error(void **state)
{
	AUTO(buf_done) struct buf page = BUF_MAX(1 << 20);
	char text[256];

	manual_man_routes(&page);
	assert_false(page.full);
	for (size_t i = 0; all_routes[i]; i++) {
		const struct route *r = all_routes[i];

		holds(&page, ".SS GET %s%s", r->path, "\n");
		for (const struct parameter *p = r->parameters; p->name; p++)
			holds(&page, ".TP\n\\fB%s\\fR=\\fI%s", p->name, "VALUE");
		if (r->gives)
			holds_keys(&page, r->gives, "");
		for (const struct route_error *e = r->errors; e && e->code; e++)
			holds(&page, " %d %s", e->status, e->code);
	}
	for (size_t i = 0; all_changes[i]; i++) {
		holds(&page, ".SS POST %s%s", escaped(all_changes[i]->path, text), "");
		if (all_changes[i]->body)
			holds_keys(&page, all_changes[i]->body, "");
	}
}

/* roff executes a line that begins with a dot or a quote. Only requests that the page itself uses
 * may begin like this. */
static void no_text_is_taken_for_a_request_of_roff(void **state)
{
	static const char *const requests[] = {".TH ", ".SH ", ".SS ", ".TP", ".PP", ".B", ".RS",
		".RE", ".nf", ".fi", ".br", ".IP", ".EX", ".EE"};
	AUTO(buf_done) struct buf page = BUF_MAX(1 << 20);

	manual_man(&page);
	manual_man_routes(&page);
	for (const char *line = buf_text(&page); *line; line += strcspn(line, "\n")) {
		bool known = false;

		line += *line == '\n';
		for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
			known = known || strncmp(line, requests[i], strlen(requests[i])) == 0;
		if ((*line == '.' || *line == '\'') && !known)
			fail_msg("%.40s", line);
	}
}

static void brackets_are_opened_before_they_are_closed(void **state)
{
	AUTO(buf_done) struct buf page = BUF_MAX(1 << 20);
	int depth = 0;

	manual_man(&page);
	manual_man_routes(&page);
	for (const char *c = buf_text(&page); *c; c++) {
		depth += (*c == '(') - (*c == ')');
		if (depth < 0)
			fail_msg("%.60s", c > buf_text(&page) + 59 ? c - 59 : buf_text(&page));
	}
	assert_int_equal(depth, 0);
}

static void bash_completes_commands_options_and_values(void **state)
{
	AUTO(buf_done) struct buf page = BUF_MAX(1 << 20);
	struct option_view o;

	completion_bash(&page);
	assert_false(page.full);
	for (size_t i = 0; option_at(i, &o); i++) {
		bool on = o.fallback && strcmp(o.fallback, "true") == 0;

		if (o.placeholder)
			holds(&page, " --%s=%s", o.name, "");
		else
			holds(&page, " --%s%s", on ? "no-" : "", o.name);
		for (size_t k = 0; o.choice && o.choice(k); k++)
			holds(&page, "%s%s", o.choice(k), "");
		if (o.placeholder && strcmp(o.placeholder, "FILE") == 0)
			holds(&page, "\t--%s) files=-f%s", o.name, " ;;");
	}
	for (size_t i = 0; all_routes[i]; i++)
		if (all_routes[i]->command)
			holds(&page, "\t%s) list='--help%s", all_routes[i]->command, "");
	for (const struct help_command *c = help_commands; c->word; c++)
		holds(&page, "\t%s) list='--help%s", c->word, "");
}

static void other_shells_complete_the_same_words(void **state)
{
	AUTO(buf_done) struct buf zsh = BUF_MAX(1 << 20), fish = BUF_MAX(1 << 20);
	struct option_view o;

	completion_zsh(&zsh);
	completion_fish(&fish);
	assert_true(strncmp(buf_text(&zsh), "#compdef rightsize-exporter\n", 28) == 0);
	holds(&zsh, "complete -o nospace -F _rightsize_exporter %s%s", "rightsize-exporter", "");
	for (size_t i = 0; option_at(i, &o); i++) {
		bool on = !o.placeholder && o.fallback && strcmp(o.fallback, "true") == 0;

		holds(&fish, on ? " -l no-%s%s" : " -l %s%s", o.name, " ");
	}
	for (size_t i = 0; all_collectors[i]; i++)
		holds(&fish, " -l %scollector.%s ", all_collectors[i]->off_by_default ? "" : "no-",
			all_collectors[i]->name);
	for (size_t i = 0; all_routes[i]; i++)
		if (all_routes[i]->command)
			holds(&fish, " -a %s -d%s", all_routes[i]->command, " ");
}

static bool has_flag(const struct buf *help, const char *name)
{
	static const char *const after[] = {"=", "\n"};
	bool found = false;

	for (size_t i = 0; i < 2 && !found; i++) {
		AUTO(buf_done) struct buf flag = BUF_MAX(256);

		buf_addf(&flag, " --%s%s", name, after[i]);
		found = strstr(buf_text(help), buf_text(&flag));
	}
	return found;
}

/* A name that is no option of its command would leave its place on the screen empty. */
static void each_usual_option_is_in_the_help_of_its_command(void **state)
{
	for (const struct help_usual *u = help_usual; u->word; u++) {
		AUTO(buf_done) struct buf help = BUF_MAX(1 << 16);

		assert_true(help_of_word(&help, u->word, false));
		for (size_t i = 0; u->names[i]; i++)
			if (!has_flag(&help, u->names[i]))
				fail_msg("%s has no --%s", u->word, u->names[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(man_page_has_every_command_option_and_parameter),
		cmocka_unit_test(the_page_of_the_routes_has_every_parameter_key_and_error),
		cmocka_unit_test(no_text_is_taken_for_a_request_of_roff),
		cmocka_unit_test(brackets_are_opened_before_they_are_closed),
		cmocka_unit_test(bash_completes_commands_options_and_values),
		cmocka_unit_test(other_shells_complete_the_same_words),
		cmocka_unit_test(each_usual_option_is_in_the_help_of_its_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
