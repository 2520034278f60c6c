DROP TRIGGER keep_owned ON anamnesis.notes;
DROP FUNCTION anamnesis.keep_owned();
DROP FUNCTION anamnesis.owned_origins();
