-- What attacks on the service have shown to be missing.

-- Whose file it is, in its header (the letters "Coff"), so that a database of another program is told from ours.
pragma application_id = 1131374182;
