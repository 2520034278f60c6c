DROP POLICY withdrawn ON anamnesis.problems;
DROP POLICY withdrawn_again ON anamnesis.dropped;
DROP POLICY withdrawn ON anamnesis.dropped;
DROP POLICY withdrawn ON anamnesis.notes;
DROP TABLE anamnesis.withdrawn;
