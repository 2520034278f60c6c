-- The first step back: nothing is left. What runs the step drops the schema.
DROP TABLE anamnesis.workspaces CASCADE;
DROP FUNCTION anamnesis.drop_postings;
