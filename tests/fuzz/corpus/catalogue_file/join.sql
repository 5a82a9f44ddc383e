BEGIN;
CREATE TABLE server (a);
INSERT INTO server WITH t(x) AS (VALUES(1),(2),(3),(4),(5),(6),(7),(8)) SELECT 1 FROM t a, t b, t c, t d, t e, t f, t g, t h, t i, t j, t k;
