/* exporter/cli/manual.c: the man page and the bash completion contain everything in the tables. */
#include "tests/unit/test_main.h"

#include <stdio.h>
#include <string.h>

#include "collectors/collector.h"
#include "exporter/cli/manual.h"
#include "exporter/api/route.h"

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

/* Returns the name as roff writes it, with hyphens that can be copied. */
static const char *escaped(const char *name, char out[256])
{
	size_t n = 0;

	for (; *name && n < 253; name++) {
		if (*name == '-' || *name == '_')
			out[n++] = '\\';
		out[n++] = *name == '_' ? '-' : *name;
	}
	out[n] = '\0';
	return out;
}

static void man_page_has_every_command_option_and_parameter(void **state)
{
	AUTO(buf_done) struct buf page = BUF_MAX(1 << 20);
	struct option_view o;
	char text[256];

	manual_man(&page);
	assert_false(page.full);
	for (const struct manual_command *c = manual_commands; c->word; c++)
		holds(&page, ".TP\n\\fB%s\\fR%s", escaped(c->word, text), "\n");
	for (size_t i = 0; option_at(i, &o); i++)
		holds(&page, ".TP\n\\fB\\-\\-%s\\fR%s", escaped(o.name, text),
			o.placeholder ? "=\\fI" : "\n");
	for (size_t i = 0; all_routes[i]; i++) {
		if (!all_routes[i]->command)
			continue;
		holds(&page, ".SS %s%s", all_routes[i]->command, "\n");
		for (const struct parameter *p = all_routes[i]->parameters; p->name; p++)
			holds(&page, "\\fB\\-\\-%s\\fR=\\fI%s", escaped(p->name, text), "VALUE");
	}
	for (size_t i = 0; all_collectors[i]; i++)
		holds(&page, "collector.%s\\fR%s", all_collectors[i]->name, "\n");
}

/* roff executes a line that begins with a dot or a quote. Only requests that the page itself uses
 * may begin like this. */
static void no_text_is_taken_for_a_request_of_roff(void **state)
{
	static const char *const requests[] = {".TH ", ".SH ", ".SS ", ".TP", ".PP", ".B", ".RS",
		".RE", ".nf", ".fi", ".br", ".IP", ".EX", ".EE"};
	AUTO(buf_done) struct buf page = BUF_MAX(1 << 20);

	manual_man(&page);
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

	manual_bash(&page);
	assert_false(page.full);
	for (size_t i = 0; option_at(i, &o); i++) {
		bool on = o.fallback && strcmp(o.fallback, "true") == 0;

		if (o.placeholder)
			holds(&page, " --%s=%s", o.name, "");
		else
			holds(&page, " --%s%s", on ? "no-" : "", o.name);
		for (size_t k = 0; o.choices && o.choices[k]; k++)
			holds(&page, "%s%s", o.choices[k], "");
		if (o.placeholder && strcmp(o.placeholder, "FILE") == 0)
			holds(&page, "\t--%s) files=-f%s", o.name, " ;;");
	}
	for (size_t i = 0; all_routes[i]; i++)
		if (all_routes[i]->command)
			holds(&page, "\t%s) words='--help%s", all_routes[i]->command, "");
	for (const struct manual_command *c = manual_commands; c->word; c++)
		holds(&page, "\t%s) words='--help%s", c->word, "");
}

static void other_shells_complete_the_same_words(void **state)
{
	AUTO(buf_done) struct buf zsh = BUF_MAX(1 << 20), fish = BUF_MAX(1 << 20);
	struct option_view o;

	manual_zsh(&zsh);
	manual_fish(&fish);
	assert_true(strncmp(buf_text(&zsh), "#compdef rightsize-exporter\n", 28) == 0);
	holds(&zsh, "complete -F _rightsize_exporter %s%s", "rightsize-exporter", "");
	for (size_t i = 0; option_at(i, &o); i++)
		holds(&fish, " -l %s%s", o.name, " ");
	for (size_t i = 0; all_routes[i]; i++)
		if (all_routes[i]->command)
			holds(&fish, " -a %s -d%s", all_routes[i]->command, " ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(man_page_has_every_command_option_and_parameter),
		cmocka_unit_test(no_text_is_taken_for_a_request_of_roff),
		cmocka_unit_test(brackets_are_opened_before_they_are_closed),
		cmocka_unit_test(bash_completes_commands_options_and_values),
		cmocka_unit_test(other_shells_complete_the_same_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
