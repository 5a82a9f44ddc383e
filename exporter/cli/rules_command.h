/*
 * "rightsize-exporter rules ...": trying rules without a server.
 *
 *	test      which rule takes which process of this machine, or of --processes=FILE, and what is built in otherwise
 *	test --pid=N   what each rule says of one process
 *	check     whether the file of --jobs.rules is right
 *	capture   the processes of this machine as JSON, for --processes elsewhere: of their environments only the
 *	          variables that say which job it is, or that the rules look at
 */
#ifndef EXPORTER_CLI_RULES_COMMAND_H
#define EXPORTER_CLI_RULES_COMMAND_H

/* Arguments after the word rules; the exit code. */
int rules_command_main(int argc, char **argv);

#endif
