-- made by x

/* y */
CREATE TABLE server (vendor_id);
