-- a; b
CREATE TABLE server (vendor_id, server_id, status); /* a;
 * b; */
CREATE TEMPORARY TRIGGER t AFTER INSERT ON server BEGIN
DELETE FROM [server;
];
END;
EXPLAIN SELECT 4/2 - 1;
INSERT INTO `server` VALUES('v','a;
b','ACTIVE');
