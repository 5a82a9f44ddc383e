CREATE TABLE server (a);
INSERT INTO server VALUES (replace('a','b',char(10)));
INSERT INTO server VALUES (hex(randomblob(4)));
