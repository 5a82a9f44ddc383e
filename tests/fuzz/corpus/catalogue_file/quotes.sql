CREATE TABLE server (vendor_id, server_id);
CREATE TABLE "server_price" (vendor_id, price);
-- a comment; here
INSERT INTO server VALUES ('a''b;', replace('x\n','\n',char(10)));
INSERT INTO "other" VALUES (1);
PRAGMA x;
/* c; */ INSERT INTO server VALUES ('