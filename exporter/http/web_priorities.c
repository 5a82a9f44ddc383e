/* What a web configuration says of TLS, in GnuTLS' words. */
#include "exporter/http/web_config.h"

#include <string.h>

#include "collectors/base/buf.h"

/* Each word once: a repeated one is harmless to GnuTLS, but hard to read in a log. */
static void add_word(struct buf *out, const char *word)
{
	const char *at = strstr(buf_text(out), word);

	while (at && at[strlen(word)] && at[strlen(word)] != ':')
		at = strstr(at + 1, word);
	if (!at)
		buf_addf(out, ":+%s", word);
}

static bool is_usable(const struct web_cipher *c, const char *key_exchange)
{
	return !*c->key_exchange || strcmp(c->key_exchange, key_exchange) == 0;
}

static void add_cipher(struct buf *out, const struct web_cipher *c, const char *key_exchange)
{
	if (!is_usable(c, key_exchange))
		return;
	add_word(out, c->cipher);
	add_word(out, c->mac);
}

/*
 * Of the suites that the file names: Go has those of TLS 1.3 besides, whatever they are, while GnuTLS makes these of the same ciphers.
 * So where none of the ciphers is for TLS 1.3, either that goes, or, where nothing of older versions is left, they do.
 */
static bool names_usable(const struct web_config *c, const char *key_exchange, bool *aead)
{
	bool any = c->n_ciphers == 0;

	*aead = any;
	for (size_t i = 0; i < c->n_ciphers; i++) {
		const struct web_cipher *w = &web_ciphers[c->ciphers[i]];

		any |= is_usable(w, key_exchange);
		*aead |= is_usable(w, key_exchange) && strcmp(w->mac, "AEAD") == 0;
	}
	return any;
}

void web_config_priorities(const struct web_config *c, const char *key_exchange, struct buf *out)
{
	bool aead, usable = names_usable(c, key_exchange, &aead);
	bool only_13 = !aead && c->max_version == TLS13 && (c->min_version == TLS13 || !usable);
	unsigned most = aead || only_13 || c->max_version < TLS13 ? c->max_version : TLS13 - 1;
	unsigned least = only_13 ? TLS13 : c->min_version;

	buf_adds(out, "NONE");
	for (unsigned v = most + 1; v-- > least;)
		add_word(out, web_versions[v].gnutls);
	add_word(out, key_exchange);
	for (size_t i = 0; i < c->n_ciphers && !only_13; i++)
		add_cipher(out, &web_ciphers[c->ciphers[i]], key_exchange);
	for (const struct web_cipher *w = web_ciphers; w->name; w++)
		if (c->n_ciphers == 0 || (only_13 && strcmp(w->mac, "AEAD") == 0))
			add_cipher(out, w, key_exchange);
	for (size_t i = 0; i < c->n_curves; i++)
		add_word(out, web_curves[c->curves[i]].gnutls);
	for (const struct web_name *w = web_curves; c->n_curves == 0 && w->name; w++)
		add_word(out, w->gnutls);
	/*
	 * Many certificates in use allow encipherment only in keyUsage, yet sign key exchanges. Go and OpenSSL do not
	 * look at it on their own side, so a file that works there must work here.
	 */
	buf_adds(out, ":+SIGN-ALL:+COMP-NULL:+CTYPE-X509:%DEBUG_ALLOW_KEY_USAGE_VIOLATIONS");
	if (c->server_order)
		buf_adds(out, ":%SERVER_PRECEDENCE");
}
