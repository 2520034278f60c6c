DROP POLICY vouched ON anamnesis.notes;
DROP POLICY written_by ON anamnesis.notes;
ALTER TABLE anamnesis.notes DROP COLUMN writer;
DROP FUNCTION anamnesis.writer();
