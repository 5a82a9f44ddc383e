CREATE TABLE server (vendor_id);
INSERT INTO server SELECT 1 FROM nothing;
