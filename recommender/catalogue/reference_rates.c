/* Exchange rates of the European Central Bank. */
#include "recommender/catalogue/reference_rates.h"

#include <string.h>
#include <strings.h>

#define RATES_AS_OF  "2026-10-30"
#define RATES_SOURCE "ECB reference rate"
#define USD_PER_EUR  1.1172

/* Converts a rate of the bank to US dollars. `units`: units of the currency for one euro. */
#define PER_EUR(code, units)                                                                       \
	{                                                                                          \
		code, USD_PER_EUR / (units), RATES_AS_OF, RATES_SOURCE                             \
	}

static const struct currency rates[] = {
	{"EUR", USD_PER_EUR, RATES_AS_OF, RATES_SOURCE},
	PER_EUR("AUD", 1.5904),
	PER_EUR("BRL", 6.0692),
	PER_EUR("CAD", 1.5606),
	PER_EUR("CHF", 0.9194),
	PER_EUR("CNY", 7.4326),
	PER_EUR("CZK", 24.353),
	PER_EUR("DKK", 7.4735),
	PER_EUR("GBP", 0.8338),
	PER_EUR("HKD", 8.7652),
	PER_EUR("HUF", 366.33),
	PER_EUR("IDR", 20275.17),
	PER_EUR("ILS", 3.495),
	PER_EUR("INR", 106.084),
	PER_EUR("ISK", 136),
	PER_EUR("JPY", 175.68),
	PER_EUR("KRW", 1491.76),
	PER_EUR("MXN", 21.1237),
	PER_EUR("MYR", 4.5325),
	PER_EUR("NOK", 10.312),
	PER_EUR("NZD", 1.9823),
	PER_EUR("PHP", 71.143),
	PER_EUR("PLN", 4.4038),
	PER_EUR("RON", 5.3447),
	PER_EUR("SEK", 10.978),
	PER_EUR("SGD", 1.4282),
	PER_EUR("THB", 37.683),
	PER_EUR("TRY", 55.8015),
	PER_EUR("ZAR", 18.6455),
};

const struct currency *reference_rate(const char *code)
{
	for (size_t i = 0; i < ARRAY_LEN(rates); i++)
		if (strcasecmp(rates[i].code, code) == 0)
			return &rates[i];
	return NULL;
}

const struct currency *reference_rate_at(size_t i)
{
	return i < ARRAY_LEN(rates) ? &rates[i] : NULL;
}

bool currency_is_reference(const struct currency *currency)
{
	return strcmp(currency->source, RATES_SOURCE) == 0;
}
