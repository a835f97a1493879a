analyze;
