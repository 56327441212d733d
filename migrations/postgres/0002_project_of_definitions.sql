-- Which project applied each version: the definitions of two projects would follow each other as versions of one.
-- Null in versions that were applied before.

ALTER TABLE definitions ADD COLUMN project TEXT;
