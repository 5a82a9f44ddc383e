CREATE TABLE server AS SELECT load_extension('x');
INSERT INTO server SELECT * FROM pragma_table_info('x');
